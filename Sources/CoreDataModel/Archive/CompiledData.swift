import Foundation

extension NSManagedObjectModel {
  /// The archive of a `.mom` file. Throws ``ModelFileError`` if a part has no archived form.
  package final func compiledData() throws -> Data { try ModelArchiveWriter.write(self, as: .file) }
}
