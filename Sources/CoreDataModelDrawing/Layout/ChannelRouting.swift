/// The tracks on which lines turn in the channel between two columns.
///
/// A line comes in at the left at one height and leaves at another; between them it runs on a vertical track.
/// Lines that share a port share the track:
///
///     left column      tracks      right column
///     pets ●────────────┐
///                 ┌─────│─────────────● owner        two lines cross once, whatever the tracks
///     tags ●──────┘     └─────────────● items
///
/// Where a line leaves at the height at which another comes in, the track of the second is left of the
/// first's, else their horizontal pieces lie on one another. If that goes round in a circle one of them
/// changes track.
struct ChannelRouting {
  /// A piece of a line that begins at the column at the left.
  struct Piece {
    enum End {
      case right(Int)
      case left(Int)
    }
    var edge: Int
    var start: Int
    var end: End
    /// The port that it shares with other lines.
    var shared: LayoutGraph.Port?
  }

  /// Pieces on one track.
  private struct Trunk {
    var lefts: [Int]
    var rights: [Int]
    /// The number of the track; nil for a straight line, which needs none.
    var slot: Int?

    var low: Int { min(lefts.min() ?? .max, rights.min() ?? .max) }
    var high: Int { max(lefts.max() ?? .min, rights.max() ?? .min) }
    var isStraight: Bool { lefts.count == 1 && rights == lefts }
  }

  private let pieces: [Piece]
  private let spacing: LayoutSpacing
  private var trunks: [Trunk] = []
  /// The trunk of each piece.
  private var trunkOfPiece: [Int] = []
  /// A trunk that goes on at another height: the second trunk, and the height.
  private var continuation: [Int: (trunk: Int, height: Int)] = [:]
  private var slotCount: Int = 0

  init(_ pieces: [Piece], _ spacing: LayoutSpacing) {
    self.pieces = pieces
    self.spacing = spacing
    var shared: [LayoutGraph.Port: Int] = [:]
    for piece in pieces {
      if let port = piece.shared, let trunk = shared[port] {
        add(piece, to: trunk)
        continue
      }
      if let port = piece.shared { shared[port] = trunks.count }
      trunks.append(Trunk(lefts: [], rights: []))
      add(piece, to: trunks.count - 1)
    }
    assignSlots()
  }

  private mutating func add(_ piece: Piece, to trunk: Int) {
    trunkOfPiece.append(trunk)
    func insert(_ height: Int, _ heights: inout [Int]) {
      if !heights.contains(height) { heights.append(height) }
    }
    insert(piece.start, &trunks[trunk].lefts)
    switch piece.end {
    case .right(let height): insert(height, &trunks[trunk].rights)
    case .left(let height): insert(height, &trunks[trunk].lefts)
    }
  }

  // MARK: Which track is left of which

  private func areNear(_ one: Int, _ other: Int) -> Bool { abs(one - other) < spacing.clearance }

  /// Whether horizontal pieces would lie on one another if the track of `one` were left of that of `other`.
  private func isForbidden(_ one: Trunk, leftOf other: Trunk) -> Bool {
    one.rights.contains { right in other.lefts.contains { areNear(right, $0) } }
  }

  /// How often the lines cross if the track of `one` is left of that of `other`.
  private func crossings(_ one: Trunk, leftOf other: Trunk) -> Int {
    one.rights.count { other.low < $0 && $0 < other.high }
      + other.lefts.count { one.low < $0 && $0 < one.high }
  }

  private func overlap(_ one: Trunk, _ other: Trunk) -> Bool {
    one.low < other.high + spacing.clearance && other.low < one.high + spacing.clearance
  }

  private mutating func assignSlots() {
    var rest: [Int] = trunks.indices.filter { !trunks[$0].isStraight }
    var standing: [Int: Standing] = standings(rest)
    var done: [Int] = []
    // First the tracks at the left.
    while !rest.isEmpty {
      let free: [Int] = rest.filter { standing[$0]?.waitsFor == 0 }
      guard var trunk = free.first else {
        rest.append(split(rest))
        standing = standings(rest)
        continue
      }
      for other in free where (standing[other]?.gain ?? 0) > (standing[trunk]?.gain ?? 0) { trunk = other }
      var slot: Int = 0
      for earlier in done {
        guard let used = trunks[earlier].slot else { continue }
        if overlap(trunks[earlier], trunks[trunk]) || isForbidden(trunks[trunk], leftOf: trunks[earlier])
          || goesOn(earlier, in: trunk)
        {
          slot = max(slot, used + 1)
        }
      }
      trunks[trunk].slot = slot
      slotCount = max(slotCount, slot + 1)
      done.append(trunk)
      rest.removeAll { $0 == trunk }
      for other in rest {
        if waits(other, for: trunk) { standing[other]?.waitsFor -= 1 }
        standing[other]?.gain -= gain(other, leftOf: trunk)
      }
    }
  }

  /// Where a trunk stands among those that have no track yet.
  private struct Standing {
    /// How many have to be left of it.
    var waitsFor: Int = 0
    /// How many crossings fewer there are if it is left of all.
    var gain: Int = 0
  }

  private func standings(_ rest: [Int]) -> [Int: Standing] {
    var result: [Int: Standing] = [:]
    for one in rest {
      var standing = Standing()
      for other in rest where other != one {
        if waits(one, for: other) { standing.waitsFor += 1 }
        standing.gain += gain(one, leftOf: other)
      }
      result[one] = standing
    }
    return result
  }

  private func gain(_ one: Int, leftOf other: Int) -> Int {
    crossings(trunks[other], leftOf: trunks[one]) - crossings(trunks[one], leftOf: trunks[other])
  }

  private func waits(_ one: Int, for other: Int) -> Bool {
    if goesOn(other, in: one) { return true }
    // The two parts of one line meet at a height.
    return !goesOn(one, in: other) && isForbidden(trunks[one], leftOf: trunks[other])
  }

  private func goesOn(_ one: Int, in other: Int) -> Bool { continuation[one]?.trunk == other }

  /// Each of these waits for another: one of them changes track on its way. The second part is returned.
  private mutating func split(_ rest: [Int]) -> Int {
    // A trunk that has been split waits for nothing.
    let trunk: Int =
      rest.first { one in
        continuation[one] == nil && !continuation.values.contains { $0.trunk == one }
          && !trunks[one].rights.isEmpty
      } ?? rest[0]
    let heights: [Int] = trunks.flatMap { $0.lefts + $0.rights }
    let middle: Int = (trunks[trunk].low + trunks[trunk].high) / 2
    var distance: Int = 0
    while heights.contains(where: { areNear($0, middle + distance) }) {
      distance = distance > 0 ? -distance : 1 - distance
    }
    let height: Int = middle + distance
    trunks.append(Trunk(lefts: [height], rights: trunks[trunk].rights))
    trunks[trunk].rights = [height]
    continuation[trunk] = (trunks.count - 1, height)
    return trunks.count - 1
  }

  // MARK: Places

  func width(isLast: Bool) -> Int {
    if isLast { return slotCount == 0 ? 0 : spacing.channelMargin + (slotCount - 1) * spacing.lines }
    return 2 * spacing.channelMargin + max(1, slotCount - 1) * spacing.lines
  }

  /// The pieces with their points, from the left. `right` is where the next column begins, if there is one.
  func routes(left: Int, right: Int?) -> [(edge: Int, points: [GraphLayout.Point])] {
    func x(_ trunk: Int) -> Int { left + spacing.channelMargin + (trunks[trunk].slot ?? 0) * spacing.lines }
    return pieces.enumerated().map { number, piece in
      let trunk: Int = trunkOfPiece[number]
      var points: [GraphLayout.Point] = [GraphLayout.Point(x: left, y: piece.start)]
      switch piece.end {
      case .left(let height):
        points += [
          GraphLayout.Point(x: x(trunk), y: piece.start), GraphLayout.Point(x: x(trunk), y: height),
          GraphLayout.Point(x: left, y: height),
        ]
      case .right(let height):
        if !trunks[trunk].isStraight {
          points.append(GraphLayout.Point(x: x(trunk), y: piece.start))
          if let next = continuation[trunk] {
            points += [
              GraphLayout.Point(x: x(trunk), y: next.height),
              GraphLayout.Point(x: x(next.trunk), y: next.height),
              GraphLayout.Point(x: x(next.trunk), y: height),
            ]
          } else {
            points.append(GraphLayout.Point(x: x(trunk), y: height))
          }
        }
        points.append(GraphLayout.Point(x: right ?? left, y: height))
      }
      return (piece.edge, points)
    }
  }
}
