extension FetchDraft {
  /// Limit and offset, bound so that pages share a statement.
  mutating func limit() {
    if plan.limit > 0 { limitValue = .bound(.integer(Int64(plan.limit))) }
    if plan.offset > 0 { offsetValue = .bound(.integer(Int64(plan.offset))) }
  }
}
