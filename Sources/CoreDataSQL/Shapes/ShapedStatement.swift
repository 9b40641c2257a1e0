import CoreDataPredicates

/// A statement for every plan of its shape whose constants it accepts.
package struct ShapedStatement: Sendable {
  package let sql: String
  /// The values that are the same for all such plans; the others are `NULL` here.
  private let values: [SQLValue]
  /// Sorted by their uses.
  private let places: [ConstantPlace]
  private let uses: [ConstantUse]
  private let encoding: any ValueEncoding
  /// For each fixed parameter the bytes of its value.
  private let fixed: [(parameter: Int, bytes: [UInt8])]

  /// A longer constant is not kept.
  private static let longestFixed: Int = 4096

  /// nil if the bytes of a constant are not available, or are too many.
  init?(
    _ statement: CompiledStatement, _ trace: ConstantTrace, _ shape: FetchShape,
    _ encoding: any ValueEncoding
  ) {
    var fixed: [(parameter: Int, bytes: [UInt8])] = []
    for number in trace.fixed {
      guard let bytes = shape.parameters[number].shapeBytes, bytes.count <= Self.longestFixed else {
        return nil
      }
      fixed.append((number, bytes))
    }
    sql = statement.sql
    var values: [SQLValue] = statement.bindings
    // The cache must not keep a program's data.
    for place in statement.places { values[place.binding] = .null }
    self.values = values
    places = statement.places.sorted { $0.use < $1.use }
    uses = trace.uses
    self.encoding = encoding
    self.fixed = fixed
  }

  /// The values to bind for constants of the shape; nil if the statement does not fit them.
  package func bindings(for parameters: [PredicateValue]) -> [SQLValue]? {
    for (number, bytes) in fixed where parameters[number].shapeBytes != bytes { return nil }
    var values: [SQLValue] = values
    var next: Int = 0
    // This includes uses that are no longer in the statement: a use that was folded away may be different for
    // another value.
    for number in uses.indices {
      guard let value = uses[number].encoding.bound(parameters[uses[number].parameter], by: encoding) else {
        return nil
      }
      while next < places.count, places[next].use == number {
        values[places[next].binding] = value
        next += 1
      }
    }
    return values
  }
}
