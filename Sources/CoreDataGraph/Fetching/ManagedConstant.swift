// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreDataEvaluation
import CoreDataPredicates
import Foundation

// Managed objects and their ids as constants of Swift predicates:
//
//     #Predicate<Item> { $0.category == home && !done.contains($0.objectID) }
//
// Foundation accepts `Codable` values only. Managed objects can't be `Codable` (many programs make their own
// classes so), hence a separate node for them, which the macro's call of `build_Arg` resolves to.

/// The types of a managed object graph that `#Predicate` may capture: objects, their ids, optionals, arrays
/// and sets of them.
public protocol ManagedReference {}

extension NSManagedObject: ManagedReference {}
extension NSManagedObjectID: ManagedReference {}
extension Optional: ManagedReference where Wrapped: ManagedReference {}
extension Array: ManagedReference where Element: ManagedReference {}
extension Set: ManagedReference where Element: ManagedReference {}

extension PredicateExpressions {
  /// A captured managed object, id, or collection of them.
  public struct ManagedConstant<Output: ManagedReference>: StandardPredicateExpression, @unchecked Sendable {
    // Sendable: immutable. A predicate that contains an object is used on the object's queue, like the
    // object; use its objectID in a predicate for another queue.
    public let value: Output

    public init(_ value: Output) { self.value = value }

    public func evaluate(_ bindings: PredicateBindings) -> Output { value }

    /// Throws: objects belong to a context. Encode a value that identifies them.
    public func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(
        value,
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription: "A predicate with managed objects or their ids can't be encoded. Encode "
            + "objectID.uriRepresentation() and make the predicate after decoding it."))
    }

    /// Throws, as encoding does.
    public init(from decoder: any Decoder) throws {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath,
          debugDescription: "A predicate with managed objects or their ids can't be decoded."))
    }
  }

  /// Called by the macro for a captured managed object or id.
  public static func build_Arg<Reference: ManagedReference>(
    _ arg: Reference
  ) -> ManagedConstant<Reference> {
    ManagedConstant(arg)
  }
}

extension PredicateExpressions.ManagedConstant: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .expression(.constant(try PredicateConversion.constant(value)))
  }
}
