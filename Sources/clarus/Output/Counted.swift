/// Numbers of things in words: "1 row", "2 rows".
enum Counted {
  static func text(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }
}
