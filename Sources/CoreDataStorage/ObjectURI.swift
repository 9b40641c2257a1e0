import Foundation

/// The parts of URIs of objects: `x-coredata://<store>/<entity>/p<key>`.
package enum ObjectURI {
  package static let scheme: String = "x-coredata"

  /// The characters that stand for themselves: those that no URI reserves.
  package static let unreserved: CharacterSet = .alphanumerics.intersection(
    CharacterSet(charactersIn: "\0"..."\u{7E}")
  )
  .union(CharacterSet(charactersIn: "-._~"))

  /// A store's UUID as the host of a URI. Metadata of programs' stores may give any text.
  package static func host(_ identifier: String) -> String {
    identifier.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// For messages: the URI of a row. `store`: the store's UUID.
  static func text(of row: RowID, in layout: ModelLayout, store: String) -> String {
    let entity: String =
      layout.entities.indices.contains(Int(row.entity))
      ? layout.entities[Int(row.entity)].name : "?"
    return "\(scheme)://\(host(store))/\(entity)/p\(row.key)"
  }
}
