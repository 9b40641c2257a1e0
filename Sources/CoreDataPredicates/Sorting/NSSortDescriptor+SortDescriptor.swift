import CoreDataRuntime
import Foundation

extension SortDescribing where Self: NSSortDescriptor {
  /// Converts a Swift sort descriptor: `descriptors.map(NSSortDescriptor.init)`.
  ///
  /// A fetch sorts by it in the store if the key path has a name and the values are text, numbers, dates,
  /// Booleans or UUIDs. Any other, such as one over an enumeration with its own order, sorts in memory.
  public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
    self = Self.make(Self.convert(sortDescriptor))
  }

  private static func convert<Compared>(_ descriptor: SortDescriptor<Compared>) -> NSSortDescriptor {
    guard let keyPath = descriptor.keyPath else { return TypedSortDescriptor(descriptor) }
    let origin: SortKeyOrigins.Origin = SortKeyOrigins.origin(of: keyPath)
    guard NaturalOrder.isPlain(type(of: origin.keyPath).valueType),
      let name = KeyPathNames.name(of: origin.keyPath)
    else { return TypedSortDescriptor(descriptor) }
    return KeySortDescriptor(
      term: SortTerm(key: name, ascending: descriptor.order == .forward, comparison: origin.comparison))
  }
}

/// A Swift sort descriptor whose order only its own comparison defines.
private final class TypedSortDescriptor<Compared>: NSSortDescriptor {
  private let descriptor: SortDescriptor<Compared>
  /// Setting `SortDescriptor.order` does not change how it compares on Linux.
  private let isReversed: Bool

  init(_ descriptor: SortDescriptor<Compared>, isReversed: Bool = false) {
    self.descriptor = descriptor
    self.isReversed = isReversed
    super.init(
      keyPath: \Compared.self, ascending: (descriptor.order == .forward) != isReversed,
      comparator: { _, _ in .orderedSame })
  }

  required init?(coder: NSCoder) {
    nil
  }

  override var keyPath: AnyKeyPath { descriptor.keyPath ?? super.keyPath }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    guard let left = object1 as? Compared, let right = object2 as? Compared else {
      fatalError(
        "A SortDescriptor of \(Compared.self) can't compare \(type(of: object1)) and \(type(of: object2)).")
    }
    let result: ComparisonResult = descriptor.compare(left, right)
    return isReversed ? NumberComparison.reversed(result) : result
  }

  override var reversedSortDescriptor: Any { TypedSortDescriptor(descriptor, isReversed: !isReversed) }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? TypedSortDescriptor else { return false }
    return other.descriptor == descriptor && other.isReversed == isReversed
  }

  override var hash: Int { descriptor.hashValue }
}

/// The key paths that a store orders as Swift does.
package enum NaturalOrder {
  private static let types: Set<ObjectIdentifier> = Set(
    [
      String.self, Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self,
      UInt16.self, UInt32.self, UInt64.self, Double.self, Float.self, Decimal.self, Date.self, UUID.self,
      NSNumber.self, NSDecimalNumber.self, NSString.self, NSDate.self,
    ].map { (type: Any.Type) in ObjectIdentifier(type) })

  /// Whether values of a type, or optional ones, are ordered in one way only.
  package static func isPlain(_ type: Any.Type) -> Bool {
    if let optional = type as? any UnwrappableOptional.Type { return isPlain(optional.wrappedType) }
    return types.contains(ObjectIdentifier(type))
  }

  /// Whether Foundation's own descriptor orders by `<`, not by a comparator of the program's. Foundation has
  /// no property for that, so the code of the closures is compared; what isn't recognised is sorted in
  /// memory, which is always right.
  static func isOwn(_ descriptor: NSSortDescriptor) -> Bool {
    ClosureCode.isSame(descriptor.comparator, reference.comparator)
  }

  private final class ReferenceText: Sendable { let text: String = "" }
  private static var reference: NSSortDescriptor {
    NSSortDescriptor(keyPath: \ReferenceText.text, ascending: true)
  }
}
