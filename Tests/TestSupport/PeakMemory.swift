import Foundation

public enum PeakMemory {
  /// The most that this process has had, 0 where the system does not tell.
  ///
  /// Not from `getrusage`, which gives a new process the peak of the one that started it.
  public static var inMegabytes: Int {
    let status: String = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line: Substring? = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1024
  }
}
