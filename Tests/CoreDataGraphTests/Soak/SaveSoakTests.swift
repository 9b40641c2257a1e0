import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Four contexts do anything at random to the same few objects, each with another merge policy at every save.
/// Nothing stops, nothing hangs, no save fails for a reason that a program could not have foreseen, no row
/// refers to one that is gone, and lists agree with what their members say.
///
/// `make soak` runs it for half an hour over all stores together (`CLARUS_SOAK_SECONDS` for another time),
/// `make test` for a moment. `CLARUS_SEED=n` begins with the deeds of a run that named its seed.
@Suite
struct SaveSoakTests {
  private static let environment: [String: String] = ProcessInfo.processInfo.environment
  private static let secondsEach: Double = {
    let wanted: Double? = environment["CLARUS_SOAK_SECONDS"].flatMap(Double.init)
    return (wanted ?? (Soak.isOn ? 1800 : 6)) / Double(StoreSetting.allCases.count)
  }()
  private static let seed: UInt64 =
    Seed.given ?? (Soak.isOn ? .random(in: 0..<1_000_000) : 1)

  @Test(arguments: StoreSetting.allCases)
  func `contexts that do anything at once leave nothing that refers to what is gone`(setting: StoreSetting)
    async throws
  {
    let (seed, seconds): (UInt64, Double) = (Self.seed, Self.secondsEach)
    // A run that nothing repeats is for those who look for faults, not for those who check a change.
    let usesThreads: Bool = Soak.isOn
    // What a process says that is ended by a signal would be lost.
    let log: String = try TemporaryFolder().file("log").path
    await #expect(processExitsWith: .success) {
      [
        setting = setting as StoreSetting, seed = seed as UInt64, seconds = seconds as Double,
        usesThreads = usesThreads as Bool, log = log as String
      ] in
      dup2(open(log, O_WRONLY | O_CREAT, 0o644), 2)
      func say(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
      // Ends the process if it hangs.
      alarm(UInt32(seconds) + 120)
      do {
        let crowd = try SaveCrowd(setting, seed: seed)
        try crowd.run(seconds: seconds, usesThreads: usesThreads)
        say("\(crowd.summary)\nwell\n")
      } catch {
        say("\(error)\n")
        exit(EXIT_FAILURE)
      }
    }
    // The test library ends what such a process says with bytes of its own.
    let said: String = String(
      decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
    if !said.contains("\nwell\n") { Issue.record("\(setting), seed \(seed): \(said.suffix(12000))") }
    if Soak.isOn { print("\(setting), seed \(seed): \(said.prefix { $0 != "\n" })") }
  }
}
