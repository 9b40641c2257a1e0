import Foundation
import StackSupport
import Testing

/// The list of rules is complete: each is proved by a test that names it, or says why it is not. Prints how
/// many there are; with CLARUS_RULES=1 in the environment, each with its tests or its reason.
@Suite
struct RuleListTests {
  /// A rule as a test names it.
  private struct Proof {
    let id: String
    let source: String
    let test: String
  }

  /// What the trait says in the sources of all test targets.
  private func proofs() throws -> [Proof] {
    let target: URL = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let tests: URL = target.deletingLastPathComponent()
    let paths: [String] =
      FileManager.default.enumerator(atPath: tests.path)?.compactMap { $0 as? String } ?? []
    let files: [URL] = paths.filter { $0.hasSuffix(".swift") && !$0.hasSuffix("/Rules.swift") }.map {
      tests.appendingPathComponent($0)
    }
    return try files.sorted { $0.path < $1.path }.filter { $0.lastPathComponent != "RuleListTests.swift" }
      .flatMap { file in
        try proofs(in: try String(contentsOf: file, encoding: .utf8))
      }
  }

  private func proofs(in text: String) throws -> [Proof] {
    let rule = /\.rule\(\s*"(?<id>[A-Z]+-[0-9]+)",\s*"(?<source>[^"]+)"/
    let name = /func `(?<name>[^`]+)`/
    return text.matches(of: rule).map { match in
      let test: Substring? = text[match.range.upperBound...].firstMatch(of: name)?.output.name
      return Proof(
        id: String(match.output.id), source: String(match.output.source), test: test.map(String.init) ?? "")
    }
  }

  @Test func `every rule has a test or a reason why there is none`() throws {
    let isDetailed: Bool = ProcessInfo.processInfo.environment["CLARUS_RULES"] != nil
    let proofs: [Proof] = try proofs()
    let proved: [String: [Proof]] = Dictionary(grouping: proofs, by: \.id)
    let untested: [String: UntestedRule] = Dictionary(
      uniqueKeysWithValues: UntestedRule.all.map { ($0.id, $0) })
    let known: Set<String> = Set(
      RuleSection.all.flatMap { section in (1...section.count).map { "\(section.id)-\($0)" } })
    var total: (rules: Int, tested: Int) = (0, 0)
    for section in RuleSection.all {
      let ids: [String] = (1...section.count).map { "\(section.id)-\($0)" }
      for id in ids {
        #expect((proved[id] == nil) != (untested[id] == nil), "\(id): a test or a reason, and not both")
      }
      let tested: Int = ids.count { proved[$0] != nil }
      total = (total.rules + ids.count, total.tested + tested)
      print("\(section.title): \(ids.count) rules, \(tested) tested")
      for id in isDetailed ? ids : [] {
        for proof in proved[id] ?? [] { print("  \(id)  \(proof.test) [\(proof.source)]") }
        if let rule = untested[id] { print("  \(id)  not tested, \(rule.reason): \(rule.text)") }
      }
    }
    print("\(total.rules) rules, \(total.tested) tested, \(total.rules - total.tested) not, with the reason")
    for proof in proofs {
      #expect(known.contains(proof.id) && !proof.test.isEmpty, "\(proof.id) in no section")
    }
    #expect(Set(untested.keys).isSubset(of: known))
  }
}
