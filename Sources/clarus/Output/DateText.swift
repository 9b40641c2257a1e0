import Foundation

/// Dates as ISO 8601 in UTC, to the microsecond, which is what a `Double` of seconds can hold today.
enum DateText {
  /// `2026-11-21T09:30:00.000000Z`. A date outside the years 1 to 9999, which ISO 8601 needs agreements for,
  /// is given as its number of seconds since 2001.
  static func full(secondsSince2001 seconds: Double) -> String {
    parts(seconds).map { "\($0.dayAndTime).\($0.fraction)Z" } ?? "\(seconds) s since 2001"
  }

  /// The same without a fraction that is zero, for people.
  static func short(secondsSince2001 seconds: Double) -> String {
    guard let parts = parts(seconds) else { return "\(seconds) s since 2001" }
    var fraction: String = parts.fraction
    while fraction.last == "0" { fraction.removeLast() }
    return parts.dayAndTime + (fraction.isEmpty ? "Z" : ".\(fraction)Z")
  }

  /// A day (`2026-12-01`) or a moment (`2026-12-01 09:30`, `2026-12-01T09:30:00.5+02:00`), in UTC without an
  /// offset.
  static func date(_ text: String) -> Date? {
    let pattern =
      /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,9})?)?\s*(Z|[+-][0-9]{2}:?[0-9]{2})?)?/
    guard let match = text.wholeMatch(of: pattern)?.output else { return nil }
    func number(_ text: Substring?) -> Int { text.flatMap { Int($0) } ?? 0 }
    let parts = DateComponents(
      year: number(match.1), month: number(match.2), day: number(match.3), hour: number(match.4),
      minute: number(match.5),
      second: number(match.6))
    // A calendar takes 31 February for 3 March.
    guard let date = UTC.calendar.date(from: parts),
      UTC.calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date) == parts
    else { return nil }
    let fraction: Double = match.7.flatMap { Double("0\($0)") } ?? 0
    var offset: Int = 0
    if let zone = match.8, zone != "Z" {
      let digits: Int = number(zone.filter(\.isNumber)[...])
      offset = (digits / 100 * 3600 + digits % 100 * 60) * (zone.first == "-" ? -1 : 1)
    }
    return date.addingTimeInterval(fraction - Double(offset))
  }

  private static func parts(_ seconds: Double) -> (dayAndTime: String, fraction: String)? {
    guard seconds.isFinite, abs(seconds) < 1e12 else { return nil }
    let microseconds = Int64((seconds * 1e6).rounded())
    let (whole, fraction) = floorDivide(microseconds, by: 1_000_000)
    let (daysSince2001, second) = floorDivide(whole, by: 86_400)
    let (year, month, day) = civil(daysSince2001: daysSince2001)
    guard (1...9999).contains(year) else { return nil }
    func padded(_ number: Int64, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let date: String = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    let time: String = "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    return ("\(date)T\(time)", padded(fraction, 6))
  }

  private static func floorDivide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
    let rest: Int64 = ((value % divisor) + divisor) % divisor
    return ((value - rest) / divisor, rest)
  }

  /// The Gregorian day of a day number, by counting 400-year cycles from 1 March of a year divisible by 400.
  private static func civil(daysSince2001: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // 1 March 2000 is 306 days before 1 January 2001.
    let (cycle, dayOfCycle) = floorDivide(daysSince2001 + 306, by: 146_097)
    let yearOfCycle: Int64 =
      (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear: Int64 = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch: Int64 = (5 * dayOfYear + 2) / 153
    let day: Int64 = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month: Int64 = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (2000 + 400 * cycle + yearOfCycle + (month <= 2 ? 1 : 0), month, day)
  }
}
