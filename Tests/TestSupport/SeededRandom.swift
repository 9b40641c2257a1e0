import Foundation

/// SplitMix64: small, good enough for tests, the same everywhere.
public struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value: UInt64 = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

/// The seed of a run that is to be repeated.
public enum Seed {
  /// `CLARUS_SEED`, which runs a law, crash or soak test again from the seed that it named.
  public static let given: UInt64? =
    ProcessInfo.processInfo.environment["CLARUS_SEED"].flatMap { UInt64($0) }
}
