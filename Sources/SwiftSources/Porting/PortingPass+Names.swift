/// Names of Apple's platforms that have another spelling here, or none.
extension PortingPass {
  static let timeConstants: [String: String] = [
    "NSEC_PER_SEC": "1_000_000_000", "NSEC_PER_MSEC": "1_000_000", "NSEC_PER_USEC": "1_000",
    "USEC_PER_SEC": "1_000_000", "MSEC_PER_SEC": "1_000",
  ]

  /// `NSEC_PER_SEC` is a macro of C, with a number of 64 bits.
  mutating func timeConstant(_ index: Int) {
    guard text(index - 1) != ".", let number = Self.timeConstants[text(index)] else { return }
    note(.timeConstant, at: tokens[index].range)
    edit(tokens[index].range, "UInt64(\(number))")
  }

  /// `Item.classForCoder()`, `Item.self.classForCoder()` become `Item.self`.
  mutating func codedClass(_ index: Int) -> Int {
    guard text(index - 1) == ".", text(index + 1) == "(", text(index + 2) == ")" else { return index + 1 }
    let base: String = text(index - 2)
    guard base == "self" ? text(index - 3) == "." : base.first?.isUppercase == true else { return index + 1 }
    note(.codedClass, at: range(index, index + 3))
    edit(base == "self" ? range(index - 1, index + 3) : range(index, index + 3), base == "self" ? "" : "self")
    return index + 3
  }

  /// `progress.observe(\.fractionCompleted)`
  mutating func progressObserver(_ index: Int) {
    guard text(index - 1) == ".", text(index + 1) == "(", text(index + 2) == "\\" else { return }
    let path: Int = isWord(index + 3) ? index + 4 : index + 3
    guard text(path) == ".", text(path + 1) == "fractionCompleted" else { return }
    note(.progressObserver, at: range(index, path + 2))
  }
}
