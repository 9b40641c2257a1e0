import GRDB

/// The two kinds of records of GRDB's workload.
protocol NumbersRecord: FetchableRecord, PersistableRecord {
  init(key: Int, value: Int)
}

/// Columns by index, as GRDB's optimized record.
struct NumbersByHand: NumbersRecord {
  static let databaseTableName = "ZNUMBERS"
  static var databaseSelection: [any SQLSelectable] {
    [Column("Z_PK")] + (0..<10).map { Column("ZI\($0)") }
  }

  var key: Int
  var values: Values

  struct Values {
    var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int

    var sum: Int { (i0 &+ i1 &+ i2 &+ i3 &+ i4) &+ (i5 &+ i6 &+ i7 &+ i8 &+ i9) }
  }

  init(key: Int, value: Int) {
    self.key = key
    values = Values(
      i0: value, i1: value, i2: value, i3: value, i4: value, i5: value, i6: value, i7: value, i8: value,
      i9: value)
  }

  init(row: Row) {
    key = row[0]
    values = Values(
      i0: row[1], i1: row[2], i2: row[3], i3: row[4], i4: row[5], i5: row[6], i6: row[7], i7: row[8],
      i8: row[9], i9: row[10])
  }

  func encode(to container: inout PersistenceContainer) {
    container["Z_PK"] = key
    container["Z_ENT"] = 1
    container["Z_OPT"] = 1
    container["ZI0"] = values.i0
    container["ZI1"] = values.i1
    container["ZI2"] = values.i2
    container["ZI3"] = values.i3
    container["ZI4"] = values.i4
    container["ZI5"] = values.i5
    container["ZI6"] = values.i6
    container["ZI7"] = values.i7
    container["ZI8"] = values.i8
    container["ZI9"] = values.i9
  }
}

struct NumbersByCoding: NumbersRecord, Codable {
  static let databaseTableName = "ZNUMBERS"

  var key: Int
  var entity: Int = 1
  var version: Int = 1
  var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int

  enum CodingKeys: String, CodingKey {
    case key = "Z_PK"
    case entity = "Z_ENT"
    case version = "Z_OPT"
    case i0 = "ZI0"
    case i1 = "ZI1"
    case i2 = "ZI2"
    case i3 = "ZI3"
    case i4 = "ZI4"
    case i5 = "ZI5"
    case i6 = "ZI6"
    case i7 = "ZI7"
    case i8 = "ZI8"
    case i9 = "ZI9"
  }

  init(key: Int, value: Int) {
    self.key = key
    (i0, i1, i2, i3, i4) = (value, value, value, value, value)
    (i5, i6, i7, i8, i9) = (value, value, value, value, value)
  }

  var sum: Int { (i0 &+ i1 &+ i2 &+ i3 &+ i4) &+ (i5 &+ i6 &+ i7 &+ i8 &+ i9) }
}
