// swift-format-ignore-file: AvoidRetroactiveConformances

import Foundation

// On Apple's systems `uuid as CVarArg` makes an NSUUID of a UUID, and every object may be an argument. Linux has neither, so that
// values and objects conform by themselves: to predicates they are values, to `String(format:)` descriptions. Should Foundation come
// to declare one of these, the compiler warns here and takes Foundation's; the argument's object stays ours.

extension _CVarArgObject {
  /// What argument lists hold in place of the value, for as long as they live.
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

/// Arguments of a format, as `getVaList(_:)` gives them.
public struct VariableArgumentList {
  let values: [any CVarArg]
}

/// The arguments as a list for ``PredicateParsing/init(format:arguments:)-(_,VariableArgumentList)``, as in code for Apple's systems.
///
/// There the list is C's, and somebody keeps it alive; Linux has `withVaList(_:_:)` only. This list holds its arguments.
public func getVaList(_ args: [any CVarArg]) -> VariableArgumentList {
  VariableArgumentList(values: args)
}
