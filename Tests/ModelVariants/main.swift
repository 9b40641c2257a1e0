import CoreDataModel
import Foundation
import TestSupport

// Damages files of models, reads each damaged file, and does with what was read what programs do: compile,
// write as a source, check, generate classes. HostileModelTests runs it.
//
//     ModelVariants KIND SEED FIRST COUNT FOLDER SAMPLE…
//
// The variants FIRST ..< FIRST + COUNT of the samples are read one by one, in FOLDER. The file FOLDER/current
// holds the number of the variant at work, and FOLDER/variant its bytes, so that whoever started the program
// knows what ended it. Each line of the output is a finding. The last line counts: how many variants were
// read, how many were refused, and the greatest memory of the process in MB.
//
// Exit status: 0 done; 3 a variant took more processor time than the limit; 4 usage. A crash has its signal.

/// Ends the process when one variant takes too much of a processor. Time on the clock would not do: on a
/// machine with other work to do a process can wait for minutes.
final class Watchdog: @unchecked Sendable {
  // Sendable because the lock guards the start.
  private let lock = NSLock()
  private var start: Double = Watchdog.processorSeconds()
  static let limitInSeconds: Double = 20

  init() {
    let thread = Thread { [self] in
      while true {
        Thread.sleep(forTimeInterval: 0.5)
        let start: Double = lock.withLock { self.start }
        if Self.processorSeconds() - start > Self.limitInSeconds { _exit(3) }
      }
    }
    thread.start()
  }

  func restart() { lock.withLock { start = Self.processorSeconds() } }

  /// What all threads of the process have had.
  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

let words: [String] = CommandLine.arguments
guard words.count > 6, let kind = VariantKind(rawValue: words[1]), let seed = UInt64(words[2]),
  let first = Int(words[3]), let count = Int(words[4])
else {
  print("usage: ModelVariants KIND SEED FIRST COUNT FOLDER SAMPLE…")
  exit(4)
}
let folder = URL(fileURLWithPath: words[5], isDirectory: true)
let samples: [Data] = try words[6...].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
let watchdog = Watchdog()
let trial = try Trial(kind, in: folder)
var outcomes = (read: 0, refused: 0)
for number in first..<first + count {
  watchdog.restart()
  try Data("\(number)".utf8).write(to: folder.appendingPathComponent("current"))
  var random = SeededRandom(seed: seed &+ UInt64(number) &* 0x9E37_79B9)
  let variant: Data = kind.variant(of: samples[number % samples.count], number, &random)
  try variant.write(to: folder.appendingPathComponent("variant"))
  do {
    try trial.run(variant)
    outcomes.read += 1
  } catch let error as ModelFileError {
    outcomes.refused += 1
    // What a user reads must say something, in bounds.
    if error.reason.isEmpty { print("\(number): an error without reason") }
    if error.reason.utf8.count > 4000 { print("\(number): an error of \(error.reason.utf8.count) bytes") }
  } catch {
    print("\(number): \(error)".prefix(500))
  }
}
print("read \(outcomes.read), refused \(outcomes.refused), \(PeakMemory.inMegabytes) MB")
