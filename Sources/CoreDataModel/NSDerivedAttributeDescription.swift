import Foundation

/// An attribute the store computes at save from other values, such as `canonical:(name)` or `pages.@count`.
/// Read-only.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  override func makeEmptyCopy() -> NSPropertyDescription {
    NSDerivedAttributeDescription()
  }
}
