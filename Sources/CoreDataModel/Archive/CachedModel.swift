import CZlib
import CoreDataArchives
import CoreDataPredicates
import Foundation

extension NSManagedObjectModel {
  /// The model as a keyed archive, the content of a `.mom` file. Throws ``ModelFileError`` for parts that
  /// have no archived form, such as a block predicate.
  package static func archivedModelData(_ model: NSManagedObjectModel) throws -> Data {
    try ModelArchiveWriter.write(model, as: .file)
  }

  /// The model as SQLite stores cache it in `Z_MODELCACHE`: a raw deflate stream of its archive.
  package func cachedModelBlob() throws -> Data {
    try RawDeflate.compress(try ModelArchiveWriter.write(self, as: .cache))
  }

  /// Reads the blob of `Z_MODELCACHE`. `source` names the store in errors.
  package static func load(cachedModelBlob blob: Data, source: String) throws -> LoadedModel {
    let archive: Data
    do {
      archive = try RawDeflate.expand(blob)
    } catch let error as PlistError {
      throw ModelFileError(
        file: source,
        reason: "The model cached in the store can't be unpacked: \(error.reason). Open it with a model file."
      )
    }
    let (model, warnings) = try ModelArchiveReader.read(archive, file: source)
    return LoadedModel(model: model, warnings: warnings)
  }
}

/// Deflate without header or checksum (window bits -15).
enum RawDeflate {
  /// The largest archive accepted. Photos' model, the largest known, unpacks to 2.5 MB from 160 kB.
  private static let maximumSize = 64 << 20
  private static let windowBits: Int32 = -15

  static func compress(_ data: Data) throws -> Data {
    var stream = z_stream()
    guard
      deflateInit2_(
        &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw PlistError("zlib can't start") }
    defer { deflateEnd(&stream) }
    var input = Array(data)
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
    let status = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(output.count)
        return deflate(&stream, Z_FINISH)
      }
    }
    guard status == Z_STREAM_END else { throw PlistError("zlib gives error \(status)") }
    return Data(output.prefix(output.count - Int(stream.avail_out)))
  }

  static func expand(_ data: Data) throws -> Data {
    guard !data.isEmpty else { throw PlistError("it is empty") }
    var stream = z_stream()
    guard inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw PlistError("zlib can't start")
    }
    defer { inflateEnd(&stream) }
    var input = Array(data)
    var result = Data()
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    try input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      while true {
        let (status, produced) = chunk.withUnsafeMutableBufferPointer { chunk in
          stream.next_out = chunk.baseAddress
          stream.avail_out = UInt32(chunk.count)
          let status = inflate(&stream, Z_NO_FLUSH)
          return (status, chunk.count - Int(stream.avail_out))
        }
        result.append(contentsOf: chunk[0..<produced])
        guard result.count <= maximumSize else {
          throw PlistError("it unpacks to more than \(maximumSize >> 20) MB, far beyond any model")
        }
        if status == Z_STREAM_END { return }
        guard status == Z_OK, produced > 0 || stream.avail_in > 0 else {
          throw PlistError(status == Z_OK || status == Z_BUF_ERROR ? "it is cut off" : "it is damaged")
        }
      }
    }
    return result
  }
}
