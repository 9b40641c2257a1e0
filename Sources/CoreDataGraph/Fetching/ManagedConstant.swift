// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreDataPredicates
import Foundation

// Managed objects and their ids as constants of Swift predicates:
//
//     #Predicate<Item> { $0.category == home && !done.contains($0.objectID) }
//
// Foundation takes `Codable` values only. Managed objects can't be that (many programs make their own classes
// so), hence a node of its own for them, which the macro's call of `build_Arg` finds.

/// What `#Predicate` may capture of a managed object graph: objects, their ids, optionals, arrays and
/// sets of them.
public protocol ManagedReference {}

extension NSManagedObject: ManagedReference {}
extension NSManagedObjectID: ManagedReference {}
extension Optional: ManagedReference where Wrapped: ManagedReference {}
extension Array: ManagedReference where Element: ManagedReference {}
extension Set: ManagedReference where Element: ManagedReference {}

extension PredicateExpressions {
  /// A captured managed object, id, or collection of them.
  public struct ManagedConstant<Output: ManagedReference>: StandardPredicateExpression, @unchecked Sendable {
    // Sendable: immutable. A predicate that holds an object is used on the object's queue, like the object;
    // hold its objectID where the predicate goes elsewhere.
    public let value: Output

    public init(_ value: Output) { self.value = value }

    public func evaluate(_ bindings: PredicateBindings) -> Output { value }

    /// Throws: objects belong to a context. Encode what tells them apart.
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

  /// What the macro makes of a captured managed object or id.
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
