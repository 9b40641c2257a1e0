import Foundation

// The members that UIKit and AppKit add to Foundation's index paths; off Apple's platforms nothing else adds
// them.

extension IndexPath {
  /// The place of an object of a ``NSFetchedResultsController``.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The same, with the names of table views.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

  /// The first index. The path must have one.
  public var section: Int {
    get { self[0] }
    set { self[0] = newValue }
  }

  /// The second index. The path must have one.
  public var item: Int {
    get { self[1] }
    set { self[1] = newValue }
  }

  /// The second index. The path must have one.
  public var row: Int {
    get { self[1] }
    set { self[1] = newValue }
  }
}
