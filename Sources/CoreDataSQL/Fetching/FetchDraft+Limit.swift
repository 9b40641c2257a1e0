import CoreDataPredicates

extension FetchDraft {
  /// Limit and offset, bound so that pages share a statement. They are the last parameters of
  /// the plan's shape.
  mutating func limit() {
    if plan.limit > 0 { limitValue = number(plan.limit, fromEnd: plan.offset > 0 ? 2 : 1) }
    if plan.offset > 0 { offsetValue = number(plan.offset, fromEnd: 1) }
  }

  private func number(_ number: Int, fromEnd place: Int) -> SQLExpression {
    guard let trace else { return .bound(.integer(Int64(number))) }
    let parameter: Int = trace.parameterCount - place
    trace.noteTraced(parameter)
    let use = ConstantUse(parameter: parameter, encoding: .value(.integer, .equal))
    return .constant(.integer(Int64(number)), use: trace.add(use))
  }
}
