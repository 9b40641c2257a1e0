import CoreDataPredicates

/// A statement that serves every plan of its shape whose constants it can take.
package struct ShapedStatement: Sendable {
  package let sql: String
  /// Those of the values that are the same for all such plans; the others are `NULL` here.
  private let values: [SQLValue]
  private let places: [ConstantPlace]
  private let uses: [ConstantUse]
  /// For each parameter that the statement was made for the very value of, its bytes.
  private let fixed: [(parameter: Int, bytes: [UInt8])]

  /// More bytes than this are not kept for a constant.
  private static let longestFixed: Int = 4096

  /// nil where a constant's bytes can't be told, or are too many.
  init?(_ statement: CompiledStatement, _ trace: ConstantTrace, _ shape: FetchShape) {
    var fixed: [(parameter: Int, bytes: [UInt8])] = []
    for number in trace.fixed {
      guard let bytes = shape.parameters[number].shapeBytes, bytes.count <= Self.longestFixed else {
        return nil
      }
      fixed.append((number, bytes))
    }
    sql = statement.sql
    var values: [SQLValue] = statement.bindings
    // A cache is no place for a program's data.
    for place in statement.places { values[place.binding] = .null }
    self.values = values
    places = statement.places
    uses = trace.uses
    self.fixed = fixed
  }

  /// The values to bind for constants of the shape; nil where the statement is not theirs.
  package func bindings(for parameters: [PredicateValue]) -> [SQLValue]? {
    for (number, bytes) in fixed where parameters[number].shapeBytes != bytes { return nil }
    var values: [SQLValue] = values
    var encoded: [SQLValue] = []
    // All uses, in the statement or not: one that was folded away may mean something else for another value.
    for use in uses {
      guard let value = use.encoding.bound(parameters[use.parameter]) else { return nil }
      encoded.append(value)
    }
    for place in places { values[place.binding] = encoded[place.use] }
    return values
  }
}
