import Foundation

/// Whether the slow runs are wanted: `make soak` says so.
public enum Soak {
  public static let isOn: Bool = ProcessInfo.processInfo.environment["CLARUS_SOAK"] == "1"
}
