/// Reads decisions from the bytes of an input, so that an input always has the same meaning. Beyond the end
/// there are zeros.
struct ByteReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position: Int = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func byte() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func below(_ limit: Int) -> Int {
    Int(byte()) % limit
  }

  mutating func pick<Element>(_ choices: [Element]) -> Element {
    choices[below(choices.count)]
  }

  mutating func word() -> UInt64 {
    (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) }
  }

  mutating func text() -> String {
    let count: Int = below(12)
    return String(decoding: (0..<count).map { _ in byte() }, as: UTF8.self)
  }
}
