import Foundation
import GRDB

/// An order of the Northwind database, as Lighter's workload has them: a generated row, a record by hand.
struct Order {
  var orderID: Int
  var customerID: String?
  var employeeID: Int?
  var orderDate: Date?
  var requiredDate: Date?
  var shippedDate: Date?
  var shipVia: Int?
  var freight: Double?
  var shipName: String?
  var shipAddress: String?
  var shipCity: String?
  var shipRegion: String?
  var shipPostalCode: String?
  var shipCountry: String?

  static let columns: [String] = [
    "ZORDERID", "ZCUSTOMERID", "ZEMPLOYEEID", "ZORDERDATE", "ZREQUIREDDATE", "ZSHIPPEDDATE", "ZSHIPVIA",
    "ZFREIGHT", "ZSHIPNAME", "ZSHIPADDRESS", "ZSHIPCITY", "ZSHIPREGION", "ZSHIPPOSTALCODE", "ZSHIPCOUNTRY",
  ]
  static let select: String = "SELECT \(columns.joined(separator: ", ")) FROM ZORDERS"
  /// `Date`'s own epoch is that of the column.
  static let firstDate: Double = 300_000_000

  func add(to sum: inout Checksum) {
    sum.addRow()
    sum.add(orderID)
    sum.add(employeeID ?? 0)
    sum.add(shipVia ?? 0)
    sum.add(freight ?? 0)
    for date in [orderDate, requiredDate, shippedDate] {
      if let date { sum.add(date.timeIntervalSinceReferenceDate) }
    }
    sum.add(customerID ?? "")
    sum.add(shipName ?? "")
    sum.add(shipAddress ?? "")
    sum.add(shipCity ?? "")
    sum.add(shipRegion ?? "")
    sum.add(shipPostalCode ?? "")
    sum.add(shipCountry ?? "")
  }
}

extension Order {
  private static let cities: [(city: String, region: String?, country: String)] = [
    ("Reims", nil, "France"), ("Münster", nil, "Germany"), ("Rio de Janeiro", "RJ", "Brazil"),
    ("Lyon", nil, "France"), ("Charleroi", nil, "Belgium"), ("Bern", nil, "Switzerland"),
    ("Resende", "SP", "Brazil"), ("San Cristóbal", "Táchira", "Venezuela"), ("Albuquerque", "NM", "USA"),
  ]
  private static let names: [String] = [
    "Vins et alcools Chevalier", "Toms Spezialitäten", "Hanari Carnes", "Victuailles en stock",
    "Suprêmes délices", "Chop-suey Chinese", "Rattlesnake Canyon Grocery",
  ]

  /// The order at a place; the same place always gives the same order.
  init(generated place: Int) {
    var random = SplitMix(seed: UInt64(place) &+ 1996)
    let town: Int = random.below(Self.cities.count)
    let name: Int = random.below(Self.names.count)
    let date: Double = Self.firstDate + Double(random.below(200_000_000))
    orderID = 10_248 + place
    customerID = Self.names[name].prefix(5).uppercased()
    employeeID = 1 + random.below(9)
    orderDate = Date(timeIntervalSinceReferenceDate: date)
    requiredDate = Date(timeIntervalSinceReferenceDate: date + 28 * 86_400)
    shippedDate =
      random.below(20) == 0
      ? nil : Date(timeIntervalSinceReferenceDate: date + Double(1 + random.below(20)) * 86_400)
    shipVia = 1 + random.below(3)
    freight = Double(random.below(50_000)) / 100
    shipName = Self.names[name]
    shipAddress = "\(1 + random.below(200)), rue de l'Abbaye"
    shipCity = Self.cities[town].city
    shipRegion = Self.cities[town].region
    shipPostalCode = String(10_000 + random.below(90_000))
    shipCountry = Self.cities[town].country
  }
}

/// By index, as GRDB's fast records.
extension Order: FetchableRecord, TableRecord {
  static let databaseTableName = "ZORDERS"
  static var databaseSelection: [any SQLSelectable] { columns.map { Column($0) } }

  init(row: Row) {
    orderID = row[0]
    customerID = row[1]
    employeeID = row[2]
    orderDate = Self.date(row[3])
    requiredDate = Self.date(row[4])
    shippedDate = Self.date(row[5])
    shipVia = row[6]
    freight = row[7]
    shipName = row[8]
    shipAddress = row[9]
    shipCity = row[10]
    shipRegion = row[11]
    shipPostalCode = row[12]
    shipCountry = row[13]
  }

  /// GRDB would take a number for seconds since 1970.
  private static func date(_ seconds: Double?) -> Date? {
    seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
  }
}

/// The Codable record; dates as numbers, which costs less than GRDB's decoding of dates as text.
struct CodableOrder: Codable, FetchableRecord, TableRecord {
  static let databaseTableName = "ZORDERS"

  var orderID: Int
  var customerID: String?
  var employeeID: Int?
  var orderDate: Double?
  var requiredDate: Double?
  var shippedDate: Double?
  var shipVia: Int?
  var freight: Double?
  var shipName: String?
  var shipAddress: String?
  var shipCity: String?
  var shipRegion: String?
  var shipPostalCode: String?
  var shipCountry: String?

  enum CodingKeys: String, CodingKey {
    case orderID = "ZORDERID"
    case customerID = "ZCUSTOMERID"
    case employeeID = "ZEMPLOYEEID"
    case orderDate = "ZORDERDATE"
    case requiredDate = "ZREQUIREDDATE"
    case shippedDate = "ZSHIPPEDDATE"
    case shipVia = "ZSHIPVIA"
    case freight = "ZFREIGHT"
    case shipName = "ZSHIPNAME"
    case shipAddress = "ZSHIPADDRESS"
    case shipCity = "ZSHIPCITY"
    case shipRegion = "ZSHIPREGION"
    case shipPostalCode = "ZSHIPPOSTALCODE"
    case shipCountry = "ZSHIPCOUNTRY"
  }

  var order: Order {
    Order(
      orderID: orderID, customerID: customerID, employeeID: employeeID,
      orderDate: orderDate.map { Date(timeIntervalSinceReferenceDate: $0) },
      requiredDate: requiredDate.map { Date(timeIntervalSinceReferenceDate: $0) },
      shippedDate: shippedDate.map { Date(timeIntervalSinceReferenceDate: $0) }, shipVia: shipVia,
      freight: freight, shipName: shipName, shipAddress: shipAddress, shipCity: shipCity,
      shipRegion: shipRegion, shipPostalCode: shipPostalCode, shipCountry: shipCountry)
  }
}
