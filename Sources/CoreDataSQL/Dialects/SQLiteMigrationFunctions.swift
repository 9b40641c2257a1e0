/// The functions that statements of a migration in place call. The engine registers them on the connection
/// that it migrates with.
package enum MigrationFunction {
  /// (tagged bytes) → the bytes, read from their file if they are in one.
  package static let untagged: String = "CLARUS_UNTAGGED"
  /// (bytes) → the bytes after the tag of values in rows.
  package static let tagged: String = "CLARUS_TAGGED"
  /// Aggregate (key, value) → a number that depends on all pairs but not on their order.
  package static let fingerprint: String = "CLARUS_FINGERPRINT"
}
