import CoreDataModel
import Foundation
import TestSupport
import Testing

/// Damaged files of models end in an explained error, or in a model that compiles, is checked, and has
/// classes: never in a crash, a loop or memory without end. Each kind is read by a process of its own
/// (`Tests/ModelVariants`), which is ended when one file takes longer than its limit.
///
/// `CLARUS_SEED` repeats a run; `make soak` reads 10,000 variants a kind, real models among them.
struct HostileModelTests {
  private static let seed: UInt64 = Seed.given ?? (Soak.isOn ? .random(in: 0...9999) : 20_261_124)
  private static let count: Int = Soak.isOn ? 10_000 : 60
  /// More than a file that is refused needs, less than one needs that grows.
  private static let memoryLimitInMegabytes: Int = 1500

  /// The files that are damaged.
  private func samples(_ kind: String, in folder: TemporaryFolder) throws -> [URL] {
    let examples: URL = SharedFiles.package.appendingPathComponent("Examples/ToDo")
    let package: URL = examples.appendingPathComponent("Sources/ToDo/ToDo.xcdatamodeld")
    let mapping: URL = examples.appendingPathComponent("Migration/Mapping/ToDo1to2.xcmappingmodel")
    let manager = FileManager.default
    // The mapping model names versions of the model, and they are looked for beside it.
    try manager.copyItem(at: package, to: folder.file("ToDo.xcdatamodeld"))
    try manager.copyItem(at: mapping, to: folder.file("ToDo1to2.xcmappingmodel"))
    let kitchen: URL = try #require(
      try manager.contentsOfDirectory(at: OwnFixtures.kitchen, includingPropertiesForKeys: nil)
        .first { $0.pathExtension == "xcdatamodel" })
    switch kind {
    case "source":
      return [package.appendingPathComponent("ToDo 2.xcdatamodel"), kitchen].map {
        $0.appendingPathComponent("contents")
      } + real("contents")
    case "mom":
      try ModelCompilation(of: kitchen).write(to: folder.file("Kitchen.mom"))
      return [folder.file("Kitchen.mom")] + real("mom")
    case "versions":
      try ModelCompilation(of: package).write(to: folder.file("Damaged.momd"))
      let list: URL = folder.file("VersionInfo.plist")
      try manager.copyItem(at: folder.file("Damaged.momd/VersionInfo.plist"), to: list)
      let text: URL = folder.file("Text.plist")
      let content: Any = try PropertyListSerialization.propertyList(
        from: Data(contentsOf: list), format: nil)
      try PropertyListSerialization.data(fromPropertyList: content, format: .xml, options: 0).write(to: text)
      return [list, text]
    case "current":
      try manager.copyItem(at: package, to: folder.file("Damaged.xcdatamodeld"))
      let mark: URL = folder.file("current.plist")
      try manager.copyItem(at: package.appendingPathComponent(".xccurrentversion"), to: mark)
      return [mark]
    case "mapping": return [mapping.appendingPathComponent("xcmapping.xml")]
    default:
      try ModelCompilation(of: folder.file("ToDo1to2.xcmappingmodel")).write(to: folder.file("A.cdm"))
      return [folder.file("A.cdm")] + real("cdm")
    }
  }

  /// Real files of moderate size, in the slow runs.
  private func real(_ ending: String) -> [URL] {
    guard Soak.isOn, let folder = SharedFiles.fixtures,
      let walk = FileManager.default.enumerator(atPath: folder.path)
    else { return [] }
    let all: [URL] = walk.compactMap { $0 as? String }
      .filter { $0.hasSuffix(".\(ending)") || $0.hasSuffix("/\(ending)") }.sorted()
      .map { folder.appendingPathComponent($0) }
      .filter { ((try? Data(contentsOf: $0))?.count ?? .max) < 30_000 }
    return all.enumerated().filter { $0.offset % (all.count / 20 + 1) == 0 }.map(\.element)
  }

  @Test(arguments: ["source", "mom", "versions", "current", "mapping", "cdm"])
  func `a damaged file is an explained error or a right model`(_ kind: String) throws {
    let folder = try TemporaryFolder()
    let samples: [URL] = try samples(kind, in: folder)
    let output: Output = try Programs.run(
      Programs.build.appendingPathComponent("ModelVariants"),
      [kind, "\(Self.seed)", "0", "\(Self.count)", folder.url.path] + samples.map(\.path))
    let number: String = (try? String(contentsOf: folder.file("current"), encoding: .utf8)) ?? "?"
    let lines: [Substring] = output.text.split(separator: "\n")
    guard output.status == 0, let last = lines.last else {
      // The bytes are kept where they can be looked at.
      let kept = FileManager.default.temporaryDirectory.appendingPathComponent(
        "clarus-variant-\(kind)-\(Self.seed)-\(number)")
      try? FileManager.default.removeItem(at: kept)
      try FileManager.default.copyItem(at: folder.file("variant"), to: kept)
      Issue.record(
        """
        seed \(Self.seed), \(kind): variant \(number) ended the program with status \(output.status) \
        (3: it took too long). Its bytes are in \(kept.path). \(output.text.suffix(2000))
        """)
      return
    }
    print("\(kind), seed \(Self.seed), \(samples.count) samples: \(last)")
    #expect(lines.dropLast() == [], "seed \(Self.seed), \(kind)")
    let numbers: [Int] = last.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
    try #require(numbers.count == 3)
    #expect(numbers[0] + numbers[1] == Self.count)
    // Some damage is harmless and some is not; where all of either kind is missing, nothing was tested.
    #expect(numbers[0] > 0 && numbers[1] > 0, "seed \(Self.seed), \(kind)")
    #expect(numbers[2] < Self.memoryLimitInMegabytes, "seed \(Self.seed), \(kind)")
  }
}
