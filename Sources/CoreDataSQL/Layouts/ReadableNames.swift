import CoreDataModel
import Foundation

/// The names of tables and columns in the readable layout.
///
///     entity GraphicNovel                     graphic_novel
///     attribute dueDate, URLString            due_date, url_string
///     element city of address                 address_city
///     to-one category                         category_id, category_entity, category_position
///     to-many documents without inverse       folder_documents_id
///     many-to-many tags of Item               item_tags (item_id, tag_id, tag_position)
///
/// The store's own columns begin with an underscore, which no property's column does. Two sub-entities of one
/// table may need the same name; the later one, in depth-first order, gets a number: `text_2`.
enum ReadableNames {
  static let key: String = "_id"
  static let entityNumber: String = "_entity"
  static let version: String = "_version"

  /// Words in small letters separated by underscores: a word begins at a capital after a small letter or a
  /// digit, and at the last of several capitals before a small letter.
  static func snake(_ name: String) -> String {
    var result: String = ""
    let characters: [Character] = Array(name)
    for (place, character) in characters.enumerated() {
      if character == "." || character == "_" {
        result += "_"
        continue
      }
      let before: Character? = place > 0 ? characters[place - 1] : nil
      let after: Character? = place + 1 < characters.count ? characters[place + 1] : nil
      if character.isUppercase, let before, before != "_", before != "." {
        if !before.isUppercase || after?.isLowercase ?? false { result += "_" }
      }
      result += character.lowercased()
    }
    return result.hasPrefix("_") ? "u" + result : result
  }

  static func toOne(_ name: String, _ suffix: String) -> String { "\(snake(name))_\(suffix)" }

  /// The longest name that PostgreSQL does not truncate.
  static let longestInBytes: Int = 63

  /// A longer name is truncated, and ends in digits that distinguish it from others.
  static func fitted(_ name: String) -> String {
    guard name.utf8.count > longestInBytes else { return name }
    let digest: String = SHA2.sha256(Array(name.utf8)).prefix(4)
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    var head: String = ""
    for character in name {
      if head.utf8.count + character.utf8.count > longestInBytes - digest.count - 1 { break }
      head.append(character)
    }
    return "\(head)_\(digest)"
  }
}
