/// How many objects a relationship may lead to from one object.
///
/// An optional relationship may be empty whatever its minimum. A required to-many one may be empty too unless
/// it has a minimum: "required" makes the minimum apply to objects that have none.
package struct MemberCounts: Sendable, Hashable {
  /// The lowest and the highest number, where there is one at all.
  private let least: Int
  private let most: Int
  package let mayBeEmpty: Bool

  /// Without limits.
  package static let any = MemberCounts(least: 1, most: .max, mayBeEmpty: true)

  private init(least: Int, most: Int, mayBeEmpty: Bool) {
    (self.least, self.most, self.mayBeEmpty) = (least, most, mayBeEmpty)
  }

  package init(of relationship: NSRelationshipDescription) {
    guard relationship.isToMany else {
      self.init(least: 1, most: 1, mayBeEmpty: relationship.isOptional)
      return
    }
    self.init(
      least: max(1, relationship.minCount), most: relationship.maxCount > 0 ? relationship.maxCount : .max,
      mayBeEmpty: relationship.isOptional || relationship.minCount <= 0)
  }

  /// The numbers beside none; nil if the maximum is below the minimum.
  package var range: ClosedRange<Int>? { least <= most ? least...most : nil }

  package func allow(_ count: Int) -> Bool {
    count == 0 ? mayBeEmpty : count >= least && count <= most
  }

  /// Whether every number that the other limits allow is allowed.
  package func includes(_ other: MemberCounts) -> Bool {
    (mayBeEmpty || !other.mayBeEmpty) && least <= other.least && most >= other.most
  }
}
