import Foundation

/// A property whose value is the result of a fetch. Always transient.
///
/// The request's predicate may use `$FETCH_SOURCE` (the object) and `$FETCHED_PROPERTY` (this description).
nonisolated open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { mayChange() } }

  open override var isTransient: Bool {
    get { true }
    set { mayChange() }
  }

  override func makeEmptyCopy() -> NSPropertyDescription {
    NSFetchedPropertyDescription()
  }

  override func copyContents(into other: NSPropertyDescription) {
    super.copyContents(into: other)
    guard let other = other as? NSFetchedPropertyDescription else { return }
    other.fetchRequest = fetchRequest.map { $0.copy() as! NSFetchRequest<any NSFetchRequestResult> }
  }

  override func freezeContents() {
    super.freezeContents()
    fetchRequest?.isFrozen = true
  }
}
