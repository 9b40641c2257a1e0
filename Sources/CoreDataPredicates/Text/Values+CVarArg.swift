// swift-format-ignore-file: AvoidRetroactiveConformances

import Foundation

// On Apple's systems `uuid as CVarArg` converts a UUID to an NSUUID, and every object may be an argument.
// Linux has neither, so that values and objects conform themselves: in predicates they are values, in
// `String(format:)` descriptions. If Foundation declares one of these conformances, the compiler warns here
// and uses Foundation's; the argument's object stays ours.

extension _CVarArgObject {
  /// The object that argument lists hold in place of the value, as long as they exist.
  public var _cVarArgObject: any CVarArg { ArgumentObject(self) }

  /// Never called: lists encode the object.
  public var _cVarArgEncoding: [Int] { fatalError("Lists of arguments encode _cVarArgObject.") }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject {}

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// A string formats itself; other objects are described.
  public var _cVarArgObject: any CVarArg { self is NSString ? self : ArgumentObject(self) }

  /// The object's address.
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

/// Arguments of a format, as `getVaList(_:)` and `withVaList(_:_:)` pass them to predicates and expressions:
/// with their number and their types, which a C list does not contain.
public struct VariableArgumentList {
  let values: [Any]

  init(_ arguments: [any CVarArg]) {
    // A C string is a pointer, and there are no other pointers among arguments.
    values = arguments.map { argument in
      switch argument {
      case let text as UnsafePointer<CChar>: String(cString: text)
      case let text as UnsafeMutablePointer<CChar>: String(cString: text)
      case let text as UnsafePointer<UInt16>: String(decodingCString: text, as: UTF16.self)
      case let text as UnsafeMutablePointer<UInt16>: String(decodingCString: text, as: UTF16.self)
      default: argument
      }
    }
  }
}

/// The arguments as a list for ``PredicateParsing/init(format:arguments:)-(_,VariableArgumentList)``, as in
/// code for Apple's systems.
///
/// There the list is C's, and its memory is the caller's responsibility; Linux has `withVaList(_:_:)` only.
/// This list holds its arguments, and a format that needs more of them, or others, is an error that names the
/// place.
public func getVaList(_ args: [any CVarArg]) -> VariableArgumentList {
  VariableArgumentList(args)
}

/// Calls the body with the arguments as a list for predicates and expressions: `withVaList(arguments) {
/// NSPredicate(format: format, arguments: $0) }`.
///
/// A body that needs a C list, such as `NSString(format:arguments:)`, gets one from Swift's function of this
/// name. That one contains neither the number nor the types of its arguments; this one does, so that a format
/// that needs more arguments, or others, is an error that names the position.
@_disfavoredOverload
public func withVaList<Result>(_ args: [any CVarArg], _ body: (VariableArgumentList) -> Result) -> Result {
  body(VariableArgumentList(args))
}
