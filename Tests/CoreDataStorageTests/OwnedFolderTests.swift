import CoreDataStorage
import Foundation
import TestSupport
import Testing

/// Folders for unfinished work, and what happens to those of processes that are gone.
@Suite struct OwnedFolderTests {
  private func age(_ url: URL) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: url.path)
  }

  private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  @Test func `a folder of a dead process is removed by the next one, and one of a living process stays`()
    throws
  {
    let place: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: place) }
    let living = try OwnedFolder(in: place, prefix: "work")
    try age(living.url)
    var dead: OwnedFolder? = try OwnedFolder(in: place, prefix: "work")
    let left: URL = try #require(dead?.url)
    try Data("x".utf8).write(to: left.appendingPathComponent("half"))
    try age(left)
    OwnedFolder.collect(in: place, prefix: "work")
    #expect(exists(left))
    // Its lock goes as with the process.
    dead = nil
    OwnedFolder.collect(in: place, prefix: "other")
    #expect(exists(left))
    let next = try OwnedFolder(in: place, prefix: "work")
    #expect(!exists(left) && exists(living.url) && exists(next.url))
    next.remove()
    living.remove()
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
  }

  @Test func `a folder of a dead process is removed at once, and one that is being made after a while`()
    throws
  {
    let place: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: place) }
    var dead: OwnedFolder? = try OwnedFolder(in: place, prefix: "work")
    let left: URL = try #require(dead?.url)
    let new: URL = place.appendingPathComponent("work-\(UUID().uuidString).making")
    try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
    try Data().write(to: new.appendingPathComponent(OwnedFolder.lockName))
    OwnedFolder.collect(in: place, prefix: "work")
    #expect(exists(left) && exists(new))
    dead = nil
    OwnedFolder.collect(in: place, prefix: "work")
    #expect(!exists(left) && exists(new))
    try age(new)
    OwnedFolder.collect(in: place, prefix: "work")
    #expect(!exists(new))
  }

  @Test func `what is young, has another name, is a link or has no lock yet stays`() throws {
    let place: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: place) }
    let target: URL = place.appendingPathComponent("target")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
    try Data().write(to: target.appendingPathComponent(OwnedFolder.lockName))
    try age(target)
    try FileManager.default.createSymbolicLink(
      at: place.appendingPathComponent("work-\(UUID().uuidString)"), withDestinationURL: target)
    let young: URL = place.appendingPathComponent("work-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: young, withIntermediateDirectories: false)
    for name in ["work-mine", "work", "workshop-\(UUID().uuidString)"] {
      let other: URL = place.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
      try Data().write(to: other.appendingPathComponent(OwnedFolder.lockName))
      try age(other)
    }
    let before: [String] = try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
    OwnedFolder.collect(in: place, prefix: "work")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() == before)
    try age(young)
    OwnedFolder.collect(in: place, prefix: "work")
    #expect(!exists(young))
  }
}
