import Foundation

/// A running function, named for messages.
struct Caller: Equatable {
  /// The function's name as the linker has it; empty if the program does not contain it.
  let symbol: String
  /// The file name of the program or library it belongs to.
  let image: String

  /// `Shop.Cart.add(Shop.Item) -> () in shop`; nil without a name.
  var text: String? { symbol.isEmpty ? nil : "\(Self.demangled(symbol)) in \(image)" }

  /// The running functions of this thread, the innermost first.
  ///
  /// Names come from the symbol tables of the files, read as files: up to some tenths of a second in a large
  /// debug build. The `Runtime` module would find source lines too, but to find the loaded images it reads
  /// the start of everything that is mapped into memory, and crashes if another thread unmaps something
  /// meanwhile, as SQLite does with the index of a write-ahead log. Foundation finds exported names only, and
  /// programs export none.
  static var all: [Caller] {
    // The first frame is Foundation's own.
    let places: [Place] = Thread.callStackSymbols.dropFirst().map(Place.init)
    var names: [String: [UInt: String]] = [:]
    for (path, nameless) in Dictionary(grouping: places.filter { $0.symbol.isEmpty }, by: \.path) {
      names[path] = SymbolTable.names(of: Set(nameless.map(\.offset)), inFile: file(of: path))
    }
    return places.map { place in
      Caller(
        symbol: place.symbol.isEmpty ? names[place.path]?[place.offset] ?? "" : place.symbol,
        image: String(place.path.split(separator: "/").last ?? ""))
    }
  }

  /// The program's own path is the one it was started with, which is useless once it has changed its
  /// directory.
  private static func file(of path: String) -> String {
    path == CommandLine.arguments.first ? "/proc/self/exe" : path
  }

  /// Foundation's text for one frame: `path(symbol+0x2e) [0x7f8b95f799de]`, `path(+0x17e2) [0x562aee5a47e2]`.
  struct Place: Equatable {
    let path: String
    let symbol: String
    /// The offset of the call, relative to the start of the image; meaningless if there is a symbol.
    let offset: UInt

    init(_ line: String) {
      guard let open = line.lastIndex(of: "("), let close = line[open...].firstIndex(of: ")"),
        let plus = line[open..<close].lastIndex(of: "+")
      else {
        (path, symbol, offset) = (line, "", 0)
        return
      }
      path = String(line[..<open])
      symbol = String(line[line.index(after: open)..<plus])
      let digits: Substring = line[line.index(after: plus)..<close].dropFirst(2)
      // This is the return address; the call precedes it, and may be the last instruction of its function.
      offset = (UInt(digits, radix: 16) ?? 1) &- 1
    }
  }

  private static func demangled(_ symbol: String) -> String {
    let count: Int = symbol.utf8.count
    guard let name = demangle(symbol, UInt(count), nil, nil, 0) else { return symbol }
    defer { free(name) }
    return String(cString: name)
  }
}

/// The functions that are running, for messages.
enum CallerList {
  private static let mostCallers: Int = 8

  /// Names of functions begin with their module, mangled; those in extensions of other modules' types contain
  /// it later.
  private static let ownModules: [String] =
    [
      "CoreDataGraph", "CoreDataControllers", "CoreDataEvaluation", "CoreDataModelChecking",
      "CoreDataPredicates", "CoreDataModel",
    ].map {
      "\($0.count)\($0)"
    }

  /// The innermost callers outside the framework, as far as their names are available.
  static var outside: [String] {
    let callers: [Caller] = Caller.all.filter { $0.text != nil }
    let outside: [Caller] = callers.filter { caller in
      !ownModules.contains { caller.symbol.hasPrefix("$s\($0)") || caller.symbol.contains("\($0)E") }
    }
    return (outside.isEmpty ? callers : outside).prefix(mostCallers).compactMap(\.text)
  }
}

/// A function of the runtime that has no Swift declaration: allocates the name; nil for a name that isn't
/// mangled.
@_silgen_name("swift_demangle")
private func demangle(
  _ name: UnsafePointer<CChar>, _ length: UInt, _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: UnsafeMutablePointer<UInt>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?

/// The table of functions in a 64-bit ELF file in the machine's byte order (`man elf`); other files have no
/// names.
enum SymbolTable {
  /// The names of the functions that contain the addresses, each address relative to the start of the image.
  static func names(of addresses: Set<UInt>, inFile path: String) -> [UInt: String] {
    guard let file = FileHandle(forReadingAtPath: path) else { return [:] }
    defer { try? file.close() }
    return (try? names(of: addresses.sorted(), in: file)) ?? [:]
  }

  /// | header | meaning                 | section | meaning             | symbol | meaning            |
  /// |--------|-------------------------|---------|---------------------|--------|--------------------|
  /// | 0      | 4: `\x7fELF`            | 4       | 4: type, 2: symbols | 0      | 4: place of name   |
  /// | 4      | 1: 2 for 64 bits        | 24      | 8: place in file    | 4      | 1: type, 2 in the lower half for a function |
  /// | 40     | 8: place of sections    | 32      | 8: size             | 8      | 8: address         |
  /// | 60     | 2: number of sections   | 40      | 4: section of names | 16     | 8: size            |
  private static func names(of addresses: [UInt], in file: FileHandle) throws -> [UInt: String] {
    let header: Data = try read(64, at: 0, of: file)
    guard header.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2]) else { return [:] }
    let count = Int(header.number(at: 60, UInt16.self))
    let sections: Data = try read(count * 64, at: header.number(at: 40, UInt64.self), of: file)
    guard
      let table = (0..<count).map({ $0 * 64 }).first(where: { sections.number(at: $0 + 4, UInt32.self) == 2 })
    else { return [:] }
    let link = Int(sections.number(at: table + 40, UInt32.self))
    guard link < count else { return [:] }
    let size: UInt64 = sections.number(at: table + 32, UInt64.self)
    let symbols: Data = try read(
      Int(exactly: size) ?? .max, at: sections.number(at: table + 24, UInt64.self), of: file)
    let text: UInt64 = sections.number(at: link * 64 + 24, UInt64.self)
    var found: [UInt: String] = [:]
    for symbol in stride(from: 0, to: symbols.count - 23, by: 24) {
      guard symbols[symbol + 4] & 0xf == 2 else { continue }
      let start = UInt(symbols.number(at: symbol + 8, UInt64.self))
      let length = UInt(symbols.number(at: symbol + 16, UInt64.self))
      for address in addresses where address >= start && address - start < length {
        let place: UInt64 = text &+ UInt64(symbols.number(at: symbol, UInt32.self))
        found[address] = try name(at: place, of: file)
      }
    }
    return found
  }

  private struct TooShort: Error {}

  private static func read(_ count: Int, at offset: UInt64, of file: FileHandle) throws -> Data {
    // Symbols of the largest programs take some hundred megabytes; a larger table means that the file is
    // damaged.
    guard count <= 1 << 30, offset <= UInt64(Int64.max) else { throw TooShort() }
    try file.seek(toOffset: offset)
    guard let data = try file.read(upToCount: count), data.count == count else { throw TooShort() }
    return data
  }

  /// Ends with a zero byte.
  private static func name(at offset: UInt64, of file: FileHandle) throws -> String {
    guard offset <= UInt64(Int64.max) else { throw TooShort() }
    try file.seek(toOffset: offset)
    let bytes: Data = try file.read(upToCount: 4096) ?? Data()
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

extension Data {
  /// The number at an offset, which need not be a multiple of its size.
  fileprivate func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }
}
