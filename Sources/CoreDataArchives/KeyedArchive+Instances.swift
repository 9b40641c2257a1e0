import CoreDataRuntime
import Foundation

// Instances of the program's own classes inside an archive that is otherwise read
// without Foundation's unarchiver.

extension KeyedArchive {
  /// Lets `NSKeyedUnarchiver` decode one instance, if its class is one of the allowed ones or a subclass of
  /// one.
  func unarchive(_ record: Record, as allowed: [AnyClass]) throws -> Any {
    guard record.index > 0, let found = Self.existingClass(record.className),
      allowed.contains(where: { ClassAncestry.isClass(found, below: $0) })
    else {
      throw PlistError(
        "it holds an instance of \(record.className), which is none of the classes that may be decoded")
    }
    do {
      let value = try NSKeyedUnarchiver.unarchivedObject(
        ofClasses: allowed, from: try archive(of: record.index))
      guard let value else { throw PlistError("an instance of \(record.className) can't be decoded") }
      return value
    } catch let error as PlistError {
      throw error
    } catch {
      throw PlistError("an instance of \(record.className) can't be decoded: \(error)")
    }
  }

  /// An archive of one object and all that it refers to.
  private func archive(of root: Int) throws -> Data {
    var places: [Int: Int] = [:]
    var order: [Int] = []
    func place(_ index: Int) -> Int {
      if let place = places[index] { return place }
      order.append(index)
      places[index] = order.count
      return order.count
    }
    _ = place(root)
    var table: [PlistNode] = [.string("$null")]
    while table.count <= order.count {
      let index = order[table.count - 1]
      guard objects.indices.contains(index) else {
        throw PlistError("a reference to object \(index) of \(objects.count)")
      }
      table.append(objects[index].mapReferences(place))
    }
    return Self.data(objects: table, root: .uid(1))
  }

  /// An archive of these objects, whose root is one of them.
  package static func data(objects: [PlistNode], root: PlistNode, name: String = "root") -> Data {
    KeyedArchive(objects: objects, top: [name: root]).data
  }

  package var data: Data {
    BinaryPlistWriter.write(
      .dictionary([
        "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
        "$top": .dictionary(top), "$objects": .array(objects),
      ]))
  }

  /// The name of a class in the archive that the program lacks, or that is neither one of the allowed ones
  /// nor a subclass of one; nil if there is none. Foundation's unarchiver stops the program at such a class.
  package func strangeClass(allowed: [AnyClass]) -> String? {
    for node in objects {
      guard case .dictionary(let fields) = node, case .string(let name)? = fields["$classname"] else {
        continue
      }
      guard let found = Self.existingClass(name),
        allowed.contains(where: { ClassAncestry.isClass(found, below: $0) })
      else { return name }
    }
    return nil
  }

  /// The class of that name. Only plain names are looked up: the runtime's demangler is not safe for other
  /// text.
  private static func existingClass(_ name: String) -> AnyClass? {
    if let mapped = NSKeyedUnarchiver.class(forClassName: name) { return mapped }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy(isIdentifier) else { return nil }
    return NSClassFromString(name)
  }

  private static func isIdentifier(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
      return false
    }
    return text.unicodeScalars.allSatisfy {
      $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || "0"..."9" ~= $0)
    }
  }
}
