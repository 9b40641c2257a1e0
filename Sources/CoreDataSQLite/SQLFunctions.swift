import CoreDataEvaluation
import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// The functions and collations that statements, triggers and indexes of a store may use.
///
/// They follow the rules of `CoreDataEvaluation`, so memory and SQL agree. They are registered through the C
/// interface: a fetch calls them once for each row, and GRDB's own interface allocates an array for each
/// call.
enum SQLFunctions {
  static func register(on database: Database) {
    guard let connection = database.sqliteConnection else { return }
    for (place, function) in SQLFunction.allCases.enumerated() {
      sqlite3_create_function_v2(
        connection, function.sqliteName, Int32(function.argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC,
        UnsafeMutableRawPointer(bitPattern: place + 1), call, nil, nil, nil)
    }
    for name in triggerFunctions {
      sqlite3_create_function_v2(connection, name, -1, SQLITE_UTF8, nil, ignore, nil, nil, nil)
    }
    sqlite3_create_function_v2(connection, "NSCoreDataNow", 0, SQLITE_UTF8, nil, now, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, ExaminationStatements.isNoText, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, isNoText,
      nil, nil, nil)
    for collation in SQLCollation.allCases {
      let comparison: StringComparison = comparison(collation)
      database.add(
        collation: DatabaseCollation(collation.sqliteName) { StringMatching.compare($0, $1, by: comparison) })
    }
  }

  private static func comparison(_ collation: SQLCollation) -> StringComparison {
    switch collation {
    case .caseInsensitive: .caseInsensitive
    case .localized: .localized
    case .localizedCaseInsensitive: .localizedCaseInsensitive
    case .localizedStandard: .localizedStandard
    }
  }

  /// Triggers in files of Apple's framework call these functions to report which derived values they changed.
  /// Without them every insert into such a table fails. Clarus reads the values back instead, so these
  /// functions do nothing.
  private static let triggerFunctions: [String] = [
    "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue",
  ]

  private static let ignore:
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = { context, _, _ in
      sqlite3_result_null(context)
    }

  private static let isNoText:
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
      context, _, values in
      guard let value = values?[0], sqlite3_value_type(value) == SQLITE_TEXT,
        let text = sqlite3_value_text(value)
      else { return sqlite3_result_int(context, 0) }
      let bytes = UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
      sqlite3_result_int(context, UnwritableValue.isText(bytes) ? 0 : 1)
    }

  /// The time, in seconds since 2001, for triggers of attributes that are derived as `now()`.
  private static let now:
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = { context, _, _ in
      sqlite3_result_double(context, Date().timeIntervalSinceReferenceDate)
    }

  /// The one entry point of all functions; the user data is the position of the function's case, plus one.
  private static let call:
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
      context, count, values in
      let place: Int = Int(bitPattern: sqlite3_user_data(context)) - 1
      guard let values, functions.indices.contains(place) else { return sqlite3_result_null(context) }
      do {
        try run(functions[place], UnsafeBufferPointer(start: values, count: Int(count)), context)
      } catch {
        sqlite3_result_error(context, "\(error)", -1)
      }
    }

  private static let functions: [SQLFunction] = SQLFunction.allCases

  private typealias Values = UnsafeBufferPointer<OpaquePointer?>

  private static func run(_ function: SQLFunction, _ values: Values, _ context: OpaquePointer?) throws {
    switch function {
    case .equal:
      if isNull(values[0]) || isNull(values[1]) {
        return flag(isNull(values[0]) && isNull(values[1]), context)
      }
      flag(try PreparedTextMatcher.holds(.equalTo, values, options(values[2]), context), context)
    case .compare:
      guard let (left, right) = texts(values) else { return sqlite3_result_null(context) }
      let order: ComparisonResult = StringMatching.compare(left, right, options(values[2]))
      sqlite3_result_int(context, Int32(order.rawValue))
    case .search:
      guard let kind = SQLSearchKind(rawValue: sqlite3_value_int64(values[2])) else {
        return flag(false, context)
      }
      flag(try PreparedTextMatcher.holds(comparison(kind), values, options(values[3]), context), context)
    case .like: flag(try PreparedTextMatcher.holds(.like, values, options(values[2]), context), context)
    case .matches: flag(try PreparedTextMatcher.holds(.matches, values, options(values[2]), context), context)
    case .whole:
      let number: PredicateValue = predicateValue(values[0])
      guard let whole = NumberComparison.double(number).flatMap({ Int64(exactly: $0.rounded(.towardZero)) })
      else { return sqlite3_result_null(context) }
      sqlite3_result_int64(context, NumberComparison.integer(number) ?? whole)
    case .key:
      let value: PredicateValue = typedValue(values[0], values[2])
      if value.isNull { return sqlite3_result_null(context) }
      stored(try ScalarKeys.read(text(values[1]) ?? "", from: value), context)
    case .cast:
      let arguments: [PredicateValue] = [typedValue(values[0], values[2]), .string(text(values[1]) ?? "")]
      stored(try BuiltinFunction.cast.result(of: arguments), context)
    case .number: cast(values, to: "NSNumber", context)
    case .description: cast(values, to: "NSString", context)
    case .compareDecimals:
      guard let left = DecimalText.decimal(values[0]), let right = DecimalText.decimal(values[1]),
        let order = NumberComparison.order(.decimal(left), .decimal(right))
      else { return sqlite3_result_null(context) }
      sqlite3_result_int(context, Int32(order.rawValue))
    case .decimalKey:
      guard let number = DecimalText.decimal(values[0]) else { return sqlite3_result_null(context) }
      let key: [UInt8] = DecimalText.key(number)
      sqlite3_result_blob64(context, key, UInt64(key.count), RawStatement.copied)
    case .decimalDescription:
      guard let number = DecimalText.decimal(values[0]) else { return sqlite3_result_null(context) }
      result(.string(ValuePrinter.print(.decimal(number))), context)
    case .decimalFunction, .decimalArithmetic: decimal(values, context)
    case .lowercase, .uppercase, .canonical, .length, .power, .squareRoot, .exponential, .naturalLogarithm,
      .logarithm, .floor, .ceiling, .truncate, .modulus, .divide, .absolute, .bitXor:
      if let builtin = function.builtin { try apply(builtin, values, context) }
    }
  }

  private static func comparison(_ kind: SQLSearchKind) -> ComparisonOperator {
    switch kind {
    case .contains: .contains
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    }
  }

  // MARK: The evaluator's own functions

  private static func apply(_ function: BuiltinFunction, _ values: Values, _ context: OpaquePointer?) throws {
    var arguments: [PredicateValue] = []
    for value in values {
      let argument: PredicateValue = predicateValue(value)
      if argument.isNull { return sqlite3_result_null(context) }
      arguments.append(argument)
    }
    result(try function.result(of: arguments), context)
  }

  /// A function of decimals with a decimal result. A division by zero is `NULL`: one row must not make a
  /// fetch over many rows fail.
  private static func decimal(_ values: Values, _ context: OpaquePointer?) {
    var arguments: [PredicateValue] = []
    for value in values.dropFirst() {
      guard let number = DecimalText.decimal(value) else { return sqlite3_result_null(context) }
      arguments.append(.decimal(number))
    }
    guard let function = text(values[0]).flatMap(BuiltinFunction.init(rawValue:)),
      case .decimal(let number)? = try? function.call(arguments)
    else {
      return sqlite3_result_null(context)
    }
    DecimalText.setResult(number, context)
  }

  /// A text that is no value of the type gives NULL: one row must not make a fetch over many rows fail.
  private static func cast(_ values: Values, to type: String, _ context: OpaquePointer?) {
    var value: PredicateValue = predicateValue(values[0])
    if value.isNull { return sqlite3_result_null(context) }
    // The zero byte that keeps a long decimal as text (`DecimalText`).
    if case .string(let text) = value, text.utf8.last == 0 { value = .string(String(text.dropLast())) }
    guard let number = try? BuiltinFunction.cast.call([value, .string(type)]) else {
      return sqlite3_result_null(context)
    }
    result(number, context)
  }

  // MARK: Values

  private static func isNull(_ value: OpaquePointer?) -> Bool { sqlite3_value_type(value) == SQLITE_NULL }

  private static func options(_ value: OpaquePointer?) -> ComparisonOptions {
    ComparisonOptions(rawValue: UInt(truncatingIfNeeded: sqlite3_value_int64(value)))
  }

  private static func text(_ value: OpaquePointer?) -> String? {
    guard sqlite3_value_type(value) == SQLITE_TEXT, let bytes = sqlite3_value_text(value) else { return nil }
    let count = Int(sqlite3_value_bytes(value))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  private static func texts(_ values: Values) -> (String, String)? {
    guard let left = text(values[0]), let right = text(values[1]) else { return nil }
    return (left, right)
  }

  private static func predicateValue(_ value: OpaquePointer?) -> PredicateValue {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .double(sqlite3_value_double(value))
    case SQLITE_TEXT: return .string(text(value) ?? "")
    case SQLITE_BLOB:
      guard let bytes = sqlite3_value_blob(value) else { return .data(Data()) }
      return .data(Data(bytes: bytes, count: Int(sqlite3_value_bytes(value))))
    default: return .null
    }
  }

  /// A value in the kind of its column (`ScalarKind`'s raw value).
  private static func typedValue(_ value: OpaquePointer?, _ kind: OpaquePointer?) -> PredicateValue {
    if isNull(value) { return .null }
    switch ScalarKind(rawValue: sqlite3_value_int64(kind)) {
    case .real: return .double(sqlite3_value_double(value))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: sqlite3_value_double(value)))
    case .decimal: return DecimalText.decimal(value).map(PredicateValue.decimal) ?? .null
    case .url:
      let text: String = text(value) ?? ""
      return URL(string: text).map(PredicateValue.url) ?? .string(text)
    case .uuid:
      guard case .data(let bytes) = predicateValue(value), bytes.count == 16 else { return .null }
      return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case .boolean, .integer, .string, .data, nil: return predicateValue(value)
    }
  }

  /// Returns a result in the form that a column of its kind holds.
  private static func stored(_ value: PredicateValue, _ context: OpaquePointer?) {
    switch value {
    case .date(let date): sqlite3_result_double(context, date.timeIntervalSinceReferenceDate)
    case .decimal(let number): DecimalText.setResult(number, context)
    case .url(let url): result(.string(url.absoluteString), context)
    case .uuid(let uuid):
      withUnsafeBytes(of: uuid.uuid) {
        sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), RawStatement.copied)
      }
    default: result(value, context)
    }
  }

  private static func flag(_ value: Bool, _ context: OpaquePointer?) {
    sqlite3_result_int(context, value ? 1 : 0)
  }

  private static func result(_ value: PredicateValue, _ context: OpaquePointer?) {
    switch value {
    case .bool(let value): flag(value, context)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .string(var value):
      value.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_result_text64(
            context, $0.baseAddress ?? RawStatement.nothing, UInt64($0.count), RawStatement.copied,
            RawStatement.utf8)
        }
      }
    default:
      guard let number = NumberComparison.double(value) else { return sqlite3_result_null(context) }
      sqlite3_result_double(context, number)
    }
  }
}
