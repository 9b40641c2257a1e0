import CoreDataModel
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file of a store that is written as a whole.
///
/// A write makes a new file beside the old one, which gets its name when all of it is on the disk: whoever
/// reads, also after a crash, finds the old contents or the new ones. Writers of all processes take turns by
/// a lock on the file itself (`flock`), and each checks that the file is still the one that it has read.
struct AtomicFile: Sendable {
  let url: URL
  /// Where the bytes are, if the URL is a symbolic link.
  private let path: String
  private let timeoutInSeconds: Double

  init(_ url: URL, timeoutInSeconds: Double?) {
    self.url = url
    path = url.followingLinks.path
    self.timeoutInSeconds = timeoutInSeconds ?? 5
  }

  private func failure(_ operation: String, _ code: Int32 = errno) -> StoreError {
    .file(url: url, operation: operation, code: code)
  }

  // MARK: Reading

  var stamp: FileStamp? { FileStamp(path: path) }

  /// Why nothing can be read from the place; nil if there is a file, or nothing.
  var objection: String? {
    if let objection = stamp?.kind.objection { return objection }
    return StoreFileMark.isSet(path: path) ? "It is open as a SQLite store." : nil
  }

  /// All bytes, as they are at one moment.
  func read() throws -> (bytes: Data, stamp: FileStamp) {
    if let objection { throw StoreError.invalidFile(url: url, reason: objection) }
    while true {
      let file: Int32 = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard file >= 0 else { throw failure("reading it") }
      defer { close(file) }
      var info = stat()
      guard fstat(file, &info) == 0 else { throw failure("reading it") }
      let stamp = FileStamp(info)
      let bytes: Data
      do {
        bytes = try FileHandle(fileDescriptor: file, closeOnDealloc: false).readToEnd() ?? Data()
      } catch { throw failure("reading it", EIO) }
      // Somebody writes into the file itself, as no writer of stores does.
      guard fstat(file, &info) == 0, FileStamp(info) == stamp else { continue }
      return (bytes, stamp)
    }
  }

  // MARK: Writing

  /// Why the file can't be written; nil if it can.
  var isWritable: Bool {
    let folder: String = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return access(folder, W_OK) == 0 && (access(path, W_OK) == 0 || errno == ENOENT)
  }

  /// Creates the file. Throws if there is one.
  func create(_ write: (_ output: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws -> FileStamp
  {
    // What a process has left that was killed here.
    OwnedFolder.collectFiles(
      in: url.deletingLastPathComponent(), prefix: URL(fileURLWithPath: beside("new")).lastPathComponent)
    let new: String = beside("new-\(UUID().uuidString)")
    defer { unlink(new) }
    let stamp: FileStamp = try fill(new, mode: 0o644, write)
    // Unlike a rename, this never replaces a file.
    guard link(new, path) == 0 else { throw failure("creating it") }
    do {
      try synchronizeFolder()
    } catch {
      unlink(path)
      throw error
    }
    return stamp
  }

  /// Replaces the contents. Throws unless the file is still the one with the stamp:
  /// `StoreError.savedByOthers`, or `.fileChanged` if there is none any more. Throws `.inUse` if others keep
  /// it locked for the whole waiting time.
  func replace(
    _ expected: FileStamp, _ write: (_ output: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> FileStamp {
    try locked {
      try requireStamp(expected)
      let new: String = beside("saving")
      do {
        let stamp: FileStamp = try fill(new, mode: expected.mode, write)
        guard rename(new, path) == 0 else { throw failure("replacing it") }
        // The new contents are there now, so nothing after this is a failure of the save. A folder that can't
        // be synced shows after a power failure as any other does: the old file or the new one.
        try? synchronizeFolder()
        return stamp
      } catch {
        unlink(new)
        throw error
      }
    }
  }

  /// Removes what a save has left whose process was killed. Does nothing while another process saves.
  func removeUnfinishedSave() {
    let left: String = beside("saving")
    guard access(left, F_OK) == 0 else { return }
    let file: Int32 = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return }
    defer { close(file) }
    var info = stat()
    // Whoever saves has this lock, of the file that is at the place.
    guard flock(file, LOCK_EX | LOCK_NB) == 0, fstat(file, &info) == 0,
      FileIdentity(info) == FileIdentity(path: path)
    else { return }
    unlink(left)
  }

  /// Throws unless the file is the one with the stamp; nil: unless there is none.
  func requireStamp(_ expected: FileStamp?) throws {
    let found: FileStamp? = stamp
    if found == expected { return }
    throw found == nil
      ? StoreError.fileChanged(url: url, path: path) : StoreError.savedByOthers(url: url)
  }

  /// The error of a file that can't be created: its folder does not exist, or may not be written.
  var creationFailure: StoreError {
    let folder: String = URL(fileURLWithPath: path).deletingLastPathComponent().path
    return failure("creating it", access(folder, F_OK) == 0 ? EACCES : ENOENT)
  }

  /// Removes the file.
  func remove() throws {
    if stamp == nil { return }
    try locked {
      guard unlink(path) == 0 || errno == ENOENT else { throw failure("removing it") }
      unlink(beside("saving"))
      try? synchronizeFolder()
    }
  }

  /// A hidden name in the file's folder. The name of saves is always the same, so that the next one replaces
  /// what a crash has left.
  private func beside(_ what: String) -> String {
    let url = URL(fileURLWithPath: path)
    return url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(what)").path
  }

  private func synchronizeFolder() throws {
    do {
      try DurableFile.synchronize(folder: URL(fileURLWithPath: path).deletingLastPathComponent())
    } catch { throw failure("making its name durable", Int32((error as NSError).code)) }
  }

  private func fill(
    _ new: String, mode: mode_t, _ write: (_ output: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> FileStamp {
    let file: Int32 = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
    guard file >= 0 else { throw failure("writing a new one beside it") }
    defer { close(file) }
    // So that nobody takes it for one of a process that is gone.
    _ = flock(file, LOCK_EX | LOCK_NB)
    fchmod(file, mode)
    try write { bytes in
      do {
        try DurableFile.write(bytes, file)
      } catch { throw failure("writing a new one beside it", Int32((error as NSError).code)) }
    }
    var info = stat()
    guard fsync(file) == 0, fstat(file, &info) == 0 else { throw failure("writing a new one beside it") }
    return FileStamp(info)
  }

  /// Runs `body` while no other writer has the file.
  private func locked<Result>(_ body: () throws -> Result) throws -> Result {
    let end: Date = Date().addingTimeInterval(timeoutInSeconds)
    while true {
      let file: Int32 = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard file >= 0 else {
        throw errno == ENOENT ? StoreError.fileChanged(url: url, path: path) : failure("locking it")
      }
      defer { close(file) }
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
        guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("locking it") }
        if Date() > end { throw StoreError.inUse(url: url) }
        usleep(10_000)
        continue
      }
      var info = stat()
      // While this waited, another writer may have replaced the file that is locked now.
      guard fstat(file, &info) == 0, FileIdentity(info) == FileIdentity(path: path) else { continue }
      return try body()
    }
  }
}
