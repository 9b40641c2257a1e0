import ArgumentParser

/// The formats in which a command can print.
protocol OutputFormatChoice: ExpressibleByArgument, CaseIterable, Equatable, Sendable {
  static var table: Self { get }
  static var json: Self { get }
}

/// How rows are printed.
enum RowFormat: String, OutputFormatChoice { case table, json, csv }

/// How anything else is printed. CSV has rows of one kind only.
enum ReportFormat: String, OutputFormatChoice { case table, json }
