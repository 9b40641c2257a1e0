import CoreDataPredicates
import Foundation
import FuzzTargets
import PredicateVectors

// Writes the first inputs of the fuzzers into a folder: one folder a fuzzer, and the dictionaries text.dict
// and sql.dict.

guard CommandLine.arguments.count == 2 else {
  FileHandle.standardError.write(Data("usage: fuzz-seeds FOLDER\n".utf8))
  exit(2)
}
let folder: URL = URL(fileURLWithPath: CommandLine.arguments[1])

func write(_ data: Data, _ kind: String, _ name: String) throws {
  let url: URL = folder.appendingPathComponent(kind)
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  try data.write(to: url.appendingPathComponent(name))
}

var vectors: [PredicateVector] = try PredicateVector.read(Data(ownVectors.utf8))
vectors += try VectorTable.all.flatMap { try $0.vectors() }
if let url = SharedVectors.url { vectors += try PredicateVector.read(try Data(contentsOf: url)) }
for (number, vector) in vectors.enumerated() {
  let seed: Data = TextTarget.seed(vector.format, vector.arguments)
  try write(seed, "text", vector.id)
  try write(seed, "sql", vector.id)
  guard let predicate = try? Foundation.NSPredicate(parsing: vector.format, arguments: vector.arguments),
    let data = try? predicate.archivedData()
  else { continue }
  try write(data, "archive", vector.id)
  if number.isMultiple(of: 20) {
    let content: Any = try PropertyListSerialization.propertyList(from: data, format: nil)
    let xml: Data = try PropertyListSerialization.data(fromPropertyList: content, format: .xml, options: 0)
    try write(xml, "archive", "\(vector.id).xml")
  }
}
for selector in StringComparison.allCases.map(\.selectorName) {
  let descriptor: NSSortDescriptor = NSSortDescriptor(
    key: "name", ascending: true, selector: Selector(selector))
  try write(try descriptor.archivedData(), "archive", "sort-\(selector)")
}
var state: UInt8 = 1
for number in 0..<64 {
  let bytes: [UInt8] = (0..<(16 + 4 * number)).map { _ in
    state = state &* 181 &+ 97
    return state &+ UInt8(number)
  }
  try write(Data(bytes), "tree", "\(number)")
}
// Over the keys of SQLWorld.
let stored: [String] = [
  "c.age > 3 AND c.parent.name LIKE[cd] 'a*'", "ANY tags.age == a", "NONE tags.children.age > 3",
  "ALL books.a < 2",
  "SUBQUERY(tags, $x, $x.age > 1 AND $x.name != nil).@count > 2", "tags.@count == 0", "tags.@sum.age > a",
  "books[0].name == 'x'", "price + e > 2.5", "when < CAST(5.000000, 'NSDate')", "id == nil OR data == nil",
  "name MATCHES 'a+' AND uppercase:(b) == b", "a BETWEEN {1, age}", "name IN {b, text, nil}",
  "f == YES AND n <= d",
  "y.y.y.name BEGINSWITH y.name", "@max.age == 1", "a & 3 == 1", "CAST(age, 'NSString') == name",
  "y IN books",
  "TERNARY(f == YES, a, age) == 1", "SELF IN books", "c == nil", "parent IN children",
  "tags.items.name CONTAINS 'x'",
  "(tags UNION books)[SIZE] > 1", "count(tags) > 2", "sum(books.a) < 3", "average({a, age}) == 1",
  "length(name) > 2",
]
for (number, format) in stored.enumerated() {
  try write(TextTarget.seed(format, []), "sql", "stored-\(number)")
}

let words: [String] =
  Word.allCases.map(\.rawValue) + BuiltinFunction.selectors.sorted() + PredicateFunctions.selectors.sorted()
  + [
    "%@", "%K", "%d", "==", "!=", "<=", ">=", ":=", "**", "<<", ">>", "&&", "||", "[c]", "[cd]", "@count",
    "@sum.", "@max.#self", "#", "$x",
  ]
let dictionary: String = words.map { "\"\($0)\"\n" }.joined()
for name in ["text", "sql"] { try write(Data(dictionary.utf8), ".", "\(name).dict") }
print("\(vectors.count) vectors")
