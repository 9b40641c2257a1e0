import CoreData
import Foundation
import StackSupport

/// Places whose address is a composite attribute, and what the same values are as attributes of their own.
///
///     Place.name
///     Place.address      street, zip (required in an address), position      optional
///          .position     latitude, longitude
///     Place.score        stars (default 3, at most 5), note                  required
///     Place.street … longitude, stars: plain twins                           Guide.places ── Place.guide
enum Atlas {
  static let model: NSManagedObjectModel = makeModel()

  static let elements: [(path: String, twin: String)] = [
    ("address.street", "street"), ("address.zip", "zip"), ("address.position.latitude", "latitude"),
    ("address.position.longitude", "longitude"), ("score.stars", "stars"), ("score.note", "note"),
  ]

  static func makeModel() -> NSManagedObjectModel {
    func stars() -> NSAttributeDescription {
      let stars = World.attribute("stars", .integer16AttributeType)
      stars.defaultValue = 3
      stars.setValidationPredicates(
        [NSPredicate(format: "SELF <= 5")], withValidationWarnings: ["\(NSValidationNumberTooLargeError)"])
      return stars
    }
    let position: NSCompositeAttributeDescription = composite(
      "position",
      [World.attribute("latitude", .doubleAttributeType), World.attribute("longitude", .doubleAttributeType)])
    let address: NSCompositeAttributeDescription = composite(
      "address",
      [
        World.attribute("street", .stringAttributeType),
        World.attribute("zip", .stringAttributeType, optional: false),
        position,
      ])
    let score: NSCompositeAttributeDescription = composite(
      "score", [stars(), World.attribute("note", .stringAttributeType)])
    score.isOptional = false
    let place = World.entity(
      "Place",
      [
        World.attribute("name", .stringAttributeType), address, score,
        World.attribute("street", .stringAttributeType), World.attribute("zip", .stringAttributeType),
        World.attribute("latitude", .doubleAttributeType), World.attribute("longitude", .doubleAttributeType),
        stars(), World.attribute("note", .stringAttributeType),
      ])
    let guide = World.entity("Guide", [World.attribute("name", .stringAttributeType)])
    World.pair(guide, "places", .many, .nullifyDeleteRule, place, "guide", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [place, guide]
    return model
  }

  static func composite(
    _ name: String, _ elements: [NSAttributeDescription]
  ) -> NSCompositeAttributeDescription {
    let composite = NSCompositeAttributeDescription()
    composite.name = name
    composite.elements = elements
    return composite
  }
}

/// Accessors as a generated class would have them.
class Place: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let addressKey = ManagedKey("address")

  var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var address: [String: Any]? {
    get { managedObjectValue(Self.addressKey) }
    set { setManagedObjectValue(newValue, Self.addressKey) }
  }
  var street: String? { address?["street"] as? String }
  var latitude: Double? { value(forKeyPath: "address.position.latitude") as? Double }
}
