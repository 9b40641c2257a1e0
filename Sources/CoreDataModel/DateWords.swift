import Foundation

/// Dates of models in messages: files and formats have them as seconds since 2001.
package enum DateWords {
  package static func text(_ date: Date) -> String { date.formatted(.iso8601) }

  /// The seconds as a date; nil beyond the years that ISO 8601 has without an agreement.
  package static func text(seconds: Double) -> String? {
    abs(seconds) < 6e10 ? text(Date(timeIntervalSinceReferenceDate: seconds)) : nil
  }
}
