import ArgumentParser

/// How rows are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case table
  case json
  case csv
}
