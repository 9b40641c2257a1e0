extension FetchDraft {
  /// The last stage: puts the tables that paths have joined and all other parts into a select.
  func assembled() -> SelectStatement {
    var select: SelectStatement = frame.select(columns, where: condition)
    select.order = order
    select.limit = limitValue
    select.offset = offsetValue
    return countsRows ? SelectStatement(columns: [.countRows], source: .select(select, alias: nil)) : select
  }
}
