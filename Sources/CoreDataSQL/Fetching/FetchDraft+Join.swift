extension FetchDraft {
  /// The last stage: the tables that paths have joined on the way, and everything else put into place.
  func assembled() -> SelectStatement {
    var select: SelectStatement = frame.select(columns, where: condition)
    select.order = order
    select.limit = limitValue
    select.offset = offsetValue
    return countsRows ? SelectStatement(columns: [.countRows], source: .select(select, alias: nil)) : select
  }
}
