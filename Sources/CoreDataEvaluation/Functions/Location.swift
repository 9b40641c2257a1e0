import CoreDataPredicates
import Foundation

/// A place on Earth, read from any value with the keys `latitude` and `longitude`, its own or those of its
/// `coordinate`: Linux has no `CLLocation`.
struct Location {
  private static let meanRadiusInMetres: Double = 6_371_008.8

  private let latitude: Double
  private let longitude: Double

  /// - Throws: ``PredicateError`` for values without coordinates.
  init(_ value: PredicateValue) throws {
    let holder: Any = (try? KeyReader.read("coordinate", from: value)).flatMap { $0 } ?? value
    guard let latitude = try? KeyReader.read("latitude", from: holder),
      let longitude = try? KeyReader.read("longitude", from: holder),
      let north = NumberComparison.double(PredicateValue(normalizing: latitude)),
      let east = NumberComparison.double(PredicateValue(normalizing: longitude))
    else {
      throw PredicateError.evaluation(
        "distanceToLocation:fromLocation: needs two values with the keys latitude and longitude, in degrees, not "
          + "\(value.kindName).")
    }
    self.latitude = north * .pi / 180
    self.longitude = east * .pi / 180
  }

  /// Metres along the great circle.
  func distance(to other: Location) -> Double {
    let (north, east): (Double, Double) = (
      sin((other.latitude - latitude) / 2), sin((other.longitude - longitude) / 2)
    )
    let chord: Double = north * north + cos(latitude) * cos(other.latitude) * east * east
    return 2 * Self.meanRadiusInMetres * asin(min(1, chord.squareRoot()))
  }
}
