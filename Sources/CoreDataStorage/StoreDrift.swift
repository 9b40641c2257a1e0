import CoreDataModel
import Foundation

/// A difference between a store's own structure and that of its model, in words: somebody has changed the
/// file by other means, or left a change half done.
package struct StoreDrift: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The model has it, the store does not.
    case missing
    /// The store has it, and it is none of the model's. A copy of the objects leaves it out.
    case foreign
  }

  package let kind: Kind
  /// One sentence.
  package let text: String

  package init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}

extension StoreEngineKind {
  /// What is written as a whole has no structure beside its objects.
  package func drift(at url: URL, layout: ModelLayout, options: StoreOpeningOptions) throws -> [StoreDrift] {
    []
  }
}
