/// A model freezes when a coordinator starts to use it: stores, layouts and plans are derived from it, so
/// after a later change they would silently differ from it. Every setter calls this first.
///
/// Apple raises "Can't modify an immutable model."; the solution is the same there: change a copy.
func requireEditable(_ isFrozen: Bool, _ part: @autoclosure () -> String) {
  precondition(
    !isFrozen,
    """
    Can't modify an immutable model. \(part()) belongs to a model that a persistent store coordinator uses. \
    Change a copy and make a new coordinator from it: let editable = model.copy() as! NSManagedObjectModel
    """)
}
