import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// The bytes that a migration needs beside the store at most, of what is written from when it begins to when
/// it ends. Bounds, checked by the sizes of the files that killed processes leave (`MigrationPointTests`):
///
///     in place                the log or journal, a frame for each page of the result, and what the file grows by
///     by copying, SQLite      the result, its log or the result of the step before, then the log of the exchange
///     by copying, XML, binary the result twice, because each save writes a new file; that of the step before
///
/// Not counted are a kept original, SQLite's temporary files in `TMPDIR`, and values that a program computes.
struct MigrationSpace {
  let file: StoreInspection
  let steps: [MigrationPlan.Step]

  /// The log's index, the journal of steps, mapping models, and the rounding of files to blocks.
  private static let small: Int64 = 128 << 10
  /// Rows that grow split full pages, into two in the worst case.
  private static let splitPages: Double = 2
  /// Rows that are inserted in their order fill pages; what the second pass sets makes some of them grow.
  private static let filledPages: Double = 1.5
  /// Of files that are written as wholes: other keys and versions.
  private static let fileSlack: Double = 1.1

  var needed: Int64 {
    let own = Double(file.byteCount - file.externalByteCount)
    let external = Double(file.externalByteCount)
    if steps.isEmpty { return 0 }
    guard file.type == NSSQLiteStoreType else {
      let result: Double = Self.fileSlack * (own + added)
      return Self.small + Int64(result * (steps.count > 1 ? 3 : 2))
    }
    guard let statements = steps[0].statements else {
      return Self.small + Int64(3 * Self.filledPages * (own + added) + 2 * external)
    }
    // What makes new tables and indexes has them beside the old ones.
    let makes: Bool = statements.contains { statement in
      ["CREATE TABLE", "CREATE INDEX", "CREATE UNIQUE"].contains { statement.sql.hasPrefix($0) }
    }
    let largest: Double = Self.splitPages * (own + added) + (makes ? own : 0)
    return Self.small + Int64(2 * largest - own)
  }

  /// The default values of new attributes, for all objects.
  private var added: Double {
    let all: Int = file.entities.map(\.rows).reduce(0, +)
    return steps.reduce(0) { sum, step in
      step.entities.reduce(sum) { sum, mapped in
        guard let from = mapped.source.flatMap({ step.step.source.entitiesByName[$0] }),
          let to = mapped.destination.flatMap({ step.step.destination.entitiesByName[$0] })
        else { return sum }
        let new: [NSAttributeDescription] = to.attributesByName.filter { name, attribute in
          from.attributesByName[name] == nil || !attribute.isOptional
        }.map(\.value)
        // Of a later step the objects are not counted.
        return sum + Double(mapped.objects ?? all) * new.map(size).reduce(0, +)
      }
    }
  }

  /// Of an attribute's default value in an object; XML names attribute and type, and writes data as text.
  private func size(_ attribute: NSAttributeDescription) -> Double {
    let value: Int =
      switch attribute.defaultValue {
      case let text as String: text.utf8.count
      case let data as Data: data.count * 4 / 3
      case nil: 0
      default: 24
      }
    switch file.type {
    case NSXMLStoreType:
      return attribute.defaultValue == nil ? 0 : Double(value + attribute.name.utf8.count + 64)
    case NSBinaryStoreType: return Double(value + 32)
    default: return Double(value + 8)
    }
  }
}
