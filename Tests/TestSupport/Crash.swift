import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// For processes that tests kill at random moments.
public enum Crash {
  /// What the moments are made of; `CLARUS_SEED` says it again.
  public static let seed: UInt64 =
    Seed.given ?? UInt64.random(in: 0...1_000_000)

  /// To be called in the child: it is killed after that time, whatever it does.
  public static func comes(afterMicroseconds microseconds: UInt32) {
    Thread.detachNewThread {
      usleep(microseconds)
      kill(getpid(), SIGKILL)
    }
  }
}
