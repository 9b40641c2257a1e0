/// Finds for named parts of a new version those of an old one: entities, properties, elements.
///
/// Renaming identifiers decide before names:
///
///     1. an identifier in the destination equals one in the source          title (was a) ← name (was a)
///     2. an identifier in the destination equals a name in the source       title (was name) ← name
///     3. the names are equal                                                title ← title
///     4. a name in the destination equals an identifier in the source       name ← title (was name)
///
/// The last undoes a renaming. Of two parts that match by different rules the first rule decides.
struct RenamingMatch {
  struct Part {
    var name: String
    /// The identifier, if it is given and is not the name.
    var identifier: String?

    init(name: String, identifier: String?) {
      self.name = name
      self.identifier = identifier == name || identifier?.isEmpty == true ? nil : identifier
    }
  }

  /// A part of the source to which two of the destination refer, or one that stands for another.
  struct Conflict: Hashable, Sendable {
    var source: String
    var destinations: [String]
  }

  /// For each part of the destination the position of its source.
  private(set) var sources: [Int?]
  private(set) var conflicts: [Conflict] = []

  /// `known`: what is to be matched instead, destination → source by name, as somebody else has decided.
  init(source: [Part], destination: [Part], _ known: [String: String]? = nil) {
    sources = Array(repeating: nil, count: destination.count)
    var claims: [Int: Int] = [:]
    let names: [String: Int] = Dictionary(
      source.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    if let known {
      sources = destination.map { part in known[part.name].flatMap { names[$0] } }
      return
    }
    let identifiers: [String: Int] = Dictionary(
      source.enumerated().compactMap { place, part in part.identifier.map { ($0, place) } },
      uniquingKeysWith: { first, _ in first })

    for (place, part) in destination.enumerated() {
      guard let identifier = part.identifier, let found = identifiers[identifier] ?? names[identifier] else {
        continue
      }
      if let other = claims[found] {
        conflicts.append(
          Conflict(source: source[found].name, destinations: [destination[other].name, part.name]))
        continue
      }
      claims[found] = place
      sources[place] = found
    }
    for rule in [names, identifiers] {
      for (place, part) in destination.enumerated() where sources[place] == nil {
        guard let found = rule[part.name], claims[found] == nil else { continue }
        claims[found] = place
        sources[place] = found
      }
    }
    addSwaps(source, destination, claims, names)
  }

  /// A destination that was found by its identifier although the source has a part of its name too, which is
  /// then lost, while the part that it was found for is in the destination too.
  private mutating func addSwaps(
    _ source: [Part], _ destination: [Part], _ claims: [Int: Int], _ names: [String: Int]
  ) {
    for (place, part) in destination.enumerated() {
      guard part.identifier != nil, let found = sources[place], source[found].name != part.name,
        let own = names[part.name], claims[own] == nil,
        let rival = destination.firstIndex(where: { $0.name == source[found].name }), sources[rival] == nil
      else { continue }
      conflicts.append(
        Conflict(source: source[found].name, destinations: [part.name, destination[rival].name]))
    }
  }
}
