import CoreData
import FormsBase

public class Item: Named {
  // Scalars.
  @NSManaged public var int16: Int16
  @NSManaged var int32: Int32, int64: Int64
  @NSManaged var bool: Bool
  @NSManaged var double: Double
  @NSManaged var float: Float
  @NSManaged var wholeNumber: Int
  @NSManaged var maybe: NSNumber?
  @NSManaged var maybeInt: Int64?
  // Values.
  @NSManaged public var text: String?
  @NSManaged var sure: String
  @NSManaged var unwrapped: String!
  @NSManaged public var date: Date?
  @NSManaged var day: Date
  @NSManaged var data: Data?, id: UUID?
  @NSManaged var url: URL?
  @NSManaged var price: NSDecimalNumber?
  @NSManaged var amount: Decimal
  // Raw values and objects.
  @NSManaged var kind: Kind
  @NSManaged var grade: Grade
  @NSManaged var maybeKind: Kind?
  @NSManaged var options: Options
  @NSManaged var alias: Label?
  @NSManaged var shade: Shade?
  @NSManaged var words: [String]?
  @NSManaged var table: [String: Int]?
  @NSManaged var anything: Any?
  @NSManaged var object: NSObject?
  @NSManaged var coding: (any NSCoding)?
  // Relationships.
  @NSManaged public var parent: Item?
  @NSManaged var box: Box
  @NSManaged var children: Set<Item>
  @NSManaged var maybeChildren: Set<Item>?
  @NSManaged var marks: NSSet?
  @NSManaged var moreMarks: NSSet
  @NSManaged var steps: NSOrderedSet?
  @NSManaged var stages: NSOrderedSet
  @NSManaged var loose: NSMutableSet
  @NSManaged var plain: NSManagedObject?

  // An override of another module's, with calls of the inherited one, and an override by hand.
  @NSManaged open override var name: String?
  public override var rank: Int16 {
    get { super.rank + 1 }
    set { super.rank = newValue * 2 }
  }

  // Attributes and modifiers in other orders.
  @NSManaged
  public var broken: String?
  @NSManaged @available(*, deprecated, message: "for the test") public var old: String?
  @NSManaged nonisolated var free: Int16
  @NSManaged public private(set) var readOnly: Int16
  @NSManaged package var ofPackage: Int16
  @NSManaged private var secret: String?
  @NSManaged fileprivate var secretBox: Box?
  @NSManaged private func addToSecrets(_ value: Item)

  #if os(Linux) || os(Windows) || os(Android)
    @NSManaged var here: Int16
  #else
    @NSManaged var elsewhere: Int32
  #endif
  #if canImport(UIKit)
    @NSManaged var image: UIImage?
  #endif
  #if FORMS
    @NSManaged var flagged: Int16
  #endif

  enum Kind: Int16 { case one, two, three }
  struct Options: OptionSet { let rawValue: Int32 }

  // swift-format-ignore: NoBlockComments
  /* Not this: @NSManaged var comment: String? /* nor this */ */
  static let literal = "@NSManaged var literal: String?"

  func reachPrivate(_ other: Item, _ box: Box) -> Bool {
    secret = "secret"
    secret? += "!"
    secretBox = box
    addToSecrets(other)
    readOnly = 5
    return secret == "secret!" && secretBox === box && secrets == [other]
  }
}

typealias Label = String

extension Item {
  @NSManaged public var primitiveText: String?
  @NSManaged var primitiveKind: Kind
  @NSManaged var primitiveDouble: Double
  @NSManaged private var secrets: Set<Item>

  @NSManaged public func addToChildren(_ value: Item)
  @NSManaged func addToChildren(_ values: Set<Item>)
  @NSManaged public func removeFromChildren(_ value: Item)
  @NSManaged func removeFromChildren(_ values: NSSet)
  @NSManaged func addMarksObject(_ value: Tag)
  @NSManaged func addMarks(_ values: NSSet)
  @NSManaged func removeMarksObject(_ value: Tag)
  @NSManaged func removeMarks(_ values: NSSet)

  @NSManaged func insertIntoSteps(_ value: Item, at index: Int)
  @NSManaged func insertIntoSteps(_ values: [Item], at indexes: NSIndexSet)
  @NSManaged func removeFromSteps(at index: Int)
  @NSManaged func removeFromSteps(at indexes: NSIndexSet)
  @NSManaged func replaceSteps(at index: Int, with value: Item)
  @NSManaged func replaceSteps(at indexes: NSIndexSet, with values: [Item])
  @NSManaged func addToSteps(_ value: Item)
  @NSManaged func addToSteps(_ values: NSOrderedSet)
  @NSManaged func removeFromSteps(_ value: Item)
  @NSManaged func removeFromSteps(_ values: NSOrderedSet)
}

// swift-format-ignore: NoAccessLevelOnExtensionDeclaration
private extension Item {
  @NSManaged var note: String?
}

enum Shop {
  class Shelf: NSManagedObject {
    @NSManaged var width: Double
    @NSManaged var state: State
    struct State: RawRepresentable { let rawValue: String }
    // Types beside the class, which its extensions don't see by their names alone.
    @NSManaged var material: Material
    @NSManaged var upper: Shelf?
    @NSManaged var boards: Set<Board>
    @NSManaged func addToBoards(_ value: Board)
  }
  struct Material: RawRepresentable { let rawValue: String }
  class Board: NSManagedObject {
    @NSManaged var shelf: Shelf?
  }
}

extension Shop.Shelf {
  @NSManaged var height: Double
}

/// A subclass that uses nested types of its superclass.
final class Special: Item {
  @NSManaged var specialKind: Kind
}

class Box: NSManagedObject {
  @NSManaged dynamic var title: String?
  @NSManaged var items: Set<Item>
}

// Members of another module's class.
extension Tag {
  @NSManaged var weight: Double
  @NSManaged public var items: Set<Item>
}

protocol Titled: AnyObject {
  var title: String? { get set }
}
extension Box: Titled {}

func readNote(_ item: Item) -> String? {
  item.note = "note"
  return item.note
}
