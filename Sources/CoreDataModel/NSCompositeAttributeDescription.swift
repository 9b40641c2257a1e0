import Foundation

/// An attribute made of named parts. Stores have one column a part; objects have a dictionary.
nonisolated open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  public required init?(coder: NSCoder) {
    super.init(coder: coder)
  }

  /// The parts; a part may be a composite itself, but not, directly or indirectly, this one.
  open var elements: [NSAttributeDescription] = [] {
    willSet { mayChange() }
  }

  override func makeEmptyCopy() -> NSPropertyDescription {
    NSCompositeAttributeDescription()
  }

  override func copyContents(into other: NSPropertyDescription) {
    super.copyContents(into: other)
    guard let other = other as? NSCompositeAttributeDescription else { return }
    other.elements = elements.map { $0.copy() as! NSAttributeDescription }
  }

  override func freezeContents() {
    super.freezeContents()
    for element in elements where !element.isFrozen { element.freezeContents() }
  }
}
