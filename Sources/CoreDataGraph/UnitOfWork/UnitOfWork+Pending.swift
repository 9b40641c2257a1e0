// The changes to save. Lists may contain objects whose flag was removed, so the flags are checked.

extension UnitOfWork {
  var hasChanges: Bool {
    inserted.contains { $0.isInserted && !$0.isDeleted } || updated.contains { $0.isUpdated }
      || deleted.contains(where: \.isToBeDeleted)
  }

  /// The objects that the next save inserts, updates and deletes. `isChild`: the save goes to a parent, which
  /// may have objects that no store has.
  func pendingChanges(isChild: Bool) -> PendingChanges {
    PendingChanges(
      inserted: inserted.filter { $0.isInserted && !$0.isDeleted }, updated: updated.filter(\.isUpdated),
      deleted: deleted.filter { $0.isToBeDeleted && ($0.store != nil || isChild) })
  }
}
