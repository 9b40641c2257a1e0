import Foundation

/// Reads arguments from a C argument list. Swift has no `va_arg`, but C's own formatting reads any list: the
/// values are printed between separators and parsed.
package enum ArgumentList {
  /// The words of a list, one for each conversion of `printf` (`%d`, `%a`, `%zx`), none of which writes more
  /// than 47 letters; nil if lists can't be read.
  package static func words(
    of list: CVaListPointer, _ conversions: [String], uses: Bool = RuntimeLayout.isUsed
  ) -> [String]? {
    uses && isReadable ? print(list, conversions) : nil
  }

  /// Whether values put into a list are read unchanged.
  package static let isReadable: Bool = {
    let object = Probe()
    let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    let arguments: [any CVarArg] = [
      Int32(-7), Int64.max, 1.5, OpaquePointer(bitPattern: address) ?? .none, UInt8(3),
    ]
    .compactMap { $0 }
    let expected: [String] = ["-7", "\(Int64.max)", "0x1.8p+0", String(address, radix: 16), "3"]
    return withExtendedLifetime(object) {
      withVaList(arguments) { print($0, ["%d", "%lld", "%a", "%zx", "%d"]) } == expected
    }
  }()

  private final class Probe {}

  private static func print(_ list: CVaListPointer, _ conversions: [String]) -> [String] {
    // No conversion writes more than this, a long double's hexadecimal digits included.
    var buffer: [CChar] = Array(repeating: 0, count: conversions.count * 48 + 1)
    let count: Int = Int(vsnprintf(&buffer, buffer.count, conversions.joined(separator: " "), list))
    let text: String = String(
      decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.split(separator: " ").map(String.init)
  }
}
