import Foundation

/// The pages of a database file, read without SQLite, because SQLite stops at the first damaged page.
///
/// A b-tree page, https://www.sqlite.org/fileformat2.html#b_tree_pages (page 1 has the file's header of 100
/// bytes before it):
///
///     offset  size
///     0       1     2 and 5: an inner page of an index, of a table; 10 and 13: a leaf
///     3       2     number of cells
///     8       4     only inner pages: the page right of all cells
///     8, 12   2n    offsets of the cells in the page
///
/// A cell of an inner page begins with the 4 bytes of the page left of it. All numbers are big-endian.
struct DatabasePages {
  enum Kind: UInt8 {
    case innerIndex = 2
    case innerTable = 5
    case leafIndex = 10
    case leafTable = 13

    var isInner: Bool { self == .innerIndex || self == .innerTable }
    var isTable: Bool { self == .innerTable || self == .leafTable }
  }

  /// What hangs below a root page.
  struct Tree {
    /// In the order of the keys.
    var leaves: [Int] = []
    /// Pages that are named by another one, or by the list of tables, and can't be such a page.
    var unreadable: Int = 0
    /// One of its pages is the last one of the file, and lacks its end.
    var isCutOff: Bool = false

    var isDamaged: Bool { unreadable > 0 || isCutOff }
  }

  private let bytes: DatabaseBytes
  private let pageSize: Int
  /// The bytes of a page that SQLite uses.
  let usableSize: Int
  let count: Int
  /// 1: UTF-8, 2: UTF-16 with the low byte first, 3: with the high byte first.
  let textEncoding: Int
  /// By page number: whether a tree or the list of free pages has it.
  private(set) var isReached: [Bool]

  /// nil for a file that has no header.
  init?(path: String) throws {
    bytes = try DatabaseBytes(path: path)
    let header: [UInt8] = try bytes.read(upTo: 100)
    guard header.count == 100 else { return nil }
    let size = Int(header[16]) << 8 | Int(header[17])
    pageSize = size == 1 ? 65536 : size
    usableSize = pageSize - Int(header[20])
    guard pageSize >= 512, pageSize & (pageSize - 1) == 0, usableSize >= 480 else { return nil }
    // The last page may be cut off.
    count = Int((bytes.count + Int64(pageSize) - 1) / Int64(pageSize))
    textEncoding = Self.number(header, 56, 4)
    isReached = [Bool](repeating: false, count: count + 1)
  }

  /// Number of `size` bytes at an offset, which must be in the page.
  static func number(_ page: [UInt8], _ offset: Int, _ size: Int) -> Int {
    page[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
  }

  /// A page with zeros for what the file lacks; nil for a number that no page of the file has.
  func page(_ number: Int) -> [UInt8]? {
    guard number >= 1, number <= count,
      var page = try? bytes.read(at: Int64(number - 1) * Int64(pageSize), upTo: pageSize)
    else { return nil }
    page += [UInt8](repeating: 0, count: pageSize - page.count)
    return page
  }

  /// Whether the file lacks the end of a page, which can be the last one only.
  func isCutOff(_ number: Int) -> Bool {
    number == count && bytes.count < Int64(count) * Int64(pageSize)
  }

  /// Kind and offsets of the cells; nil for a page that is none of a b-tree.
  func cells(_ page: [UInt8], _ number: Int) -> (kind: Kind, offsets: [Int])? {
    let start: Int = number == 1 ? 100 : 0
    guard let kind = Kind(rawValue: page[start]) else { return nil }
    let cells: Int = Self.number(page, start + 3, 2)
    let list: Int = start + (kind.isInner ? 12 : 8)
    guard list + 2 * cells <= usableSize else { return nil }
    let offsets: [Int] = (0..<cells).map { Self.number(page, list + 2 * $0, 2) }
    guard offsets.allSatisfy({ $0 >= list + 2 * cells && $0 + 4 <= usableSize }) else { return nil }
    return (kind, offsets)
  }

  // MARK: What is reached

  /// The tree below a root. Each page belongs to one tree: one that another tree has is unreadable here.
  mutating func walk(root: Int) -> Tree {
    var tree = Tree()
    var isTable: Bool?
    var pending: [Int] = [root]
    while let number = pending.popLast() {
      guard number <= count, !isReached[number], let page = page(number),
        let (kind, offsets) = cells(page, number),
        isTable ?? kind.isTable == kind.isTable
      else {
        tree.unreadable += 1
        continue
      }
      isReached[number] = true
      isTable = kind.isTable
      if isCutOff(number) { tree.isCutOff = true }
      guard kind.isInner else {
        tree.leaves.append(number)
        continue
      }
      // The last one is taken first.
      pending.append(Self.number(page, number == 1 ? 108 : 8, 4))
      pending += offsets.reversed().map { Self.number(page, $0, 4) }
    }
    return tree
  }

  /// Pages of the list of free pages hold former rows. The list ends where it is damaged.
  mutating func markFreePages() {
    guard let first = page(1) else { return }
    var trunk: Int = Self.number(first, 32, 4)
    while trunk != 0, trunk <= count, !isReached[trunk], let page = page(trunk) {
      let leaves: Int = Self.number(page, 4, 4)
      guard 8 + 4 * leaves <= usableSize else { return }
      let numbers: [Int] = (0..<leaves).map { Self.number(page, 8 + 4 * $0, 4) }
      guard numbers.allSatisfy({ $0 >= 2 && $0 <= count }) else { return }
      isReached[trunk] = true
      for number in numbers { isReached[number] = true }
      trunk = Self.number(page, 0, 4)
    }
  }
}
