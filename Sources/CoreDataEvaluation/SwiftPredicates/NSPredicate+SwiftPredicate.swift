import CoreDataPredicates
import Foundation

extension PredicateParsing where Self: Foundation.NSPredicate {
  /// Converts a Swift predicate; nil if a part of it has no counterpart.
  ///
  /// ```swift
  /// request.predicate = NSPredicate(#Predicate<Item> { $0.priority > 3 && $0.category?.name == "Home" })
  /// ```
  ///
  /// A request whose predicate is nil fetches everything, so the reason is written to standard error;
  /// ``init(converting:)`` throws it instead. Documentation/swift-predicates.md lists the conversions.
  public init?<Input>(_ predicate: Predicate<Input>) {
    do {
      try self.init(converting: predicate)
    } catch {
      FileHandle.standardError.write(
        Data("clarus: NSPredicate(_:) gives nil. \(error) NSPredicate(converting:) throws this.\n".utf8))
      return nil
    }
  }

  /// Converts a Swift predicate.
  ///
  /// Cost: one walk of the tree, and a look-up for each key path. Keep the result of a predicate that is used
  /// often.
  ///
  /// - Throws: ``PredicateError`` that names the part without counterpart, or the key path without name, with
  ///   advice.
  public init<Input>(converting predicate: Predicate<Input>) throws {
    let conversion: PredicateConversion = .init()
    conversion.bind(predicate.variable.key, to: .evaluatedObject)
    let node: PredicateNode = try conversion.predicate(predicate.expression)
    try PredicateConversion.checkDepth(node.depth)
    let converted: Foundation.NSPredicate = .makePredicate(node)
    guard let result = converted as? Self else {
      throw PredicateError.unsupported(
        "The Swift predicate gives a \(type(of: converted)), not a \(Self.self). Convert it to NSPredicate.")
    }
    self = result
  }
}

extension NSExpression {
  /// Converts a Swift expression; nil if a part of it has no counterpart: the reason is written to standard
  /// error. ``init(converting:)`` throws it instead.
  ///
  /// ```swift
  /// NSExpression(#Expression<Item, Double> { $0.price * 1.2 })
  /// ```
  public convenience init?<Input, Output>(_ expression: Expression<Input, Output>) {
    do {
      try self.init(converting: expression)
    } catch {
      FileHandle.standardError.write(
        Data("clarus: NSExpression(_:) gives nil. \(error) NSExpression(converting:) throws this.\n".utf8))
      return nil
    }
  }

  /// Converts a Swift expression.
  ///
  /// - Throws: ``PredicateError`` that names the part without counterpart, or the key path without name, with
  ///   advice.
  public convenience init<Input, Output>(converting expression: Expression<Input, Output>) throws {
    let conversion: PredicateConversion = .init()
    conversion.bind(expression.variable.key, to: .evaluatedObject)
    let node: ExpressionNode = try conversion.expression(expression.expression)
    try PredicateConversion.checkDepth(node.depth)
    self.init(node: node)
  }

  /// The path of a Swift key path, as `#keyPath` writes it on Apple's platforms. A key path without name
  /// stops the program with the reason and advice; ``init(converting:)-(KeyPath<Root,Value>)`` throws it.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    do {
      try self.init(converting: keyPath)
    } catch {
      fatalError("\(error)")
    }
  }

  /// The path that a key path stands for.
  ///
  /// - Throws: ``PredicateError`` that says why the key path has no name, and how to give it one.
  public convenience init<Root, Value>(converting keyPath: KeyPath<Root, Value>) throws {
    self.init(forKeyPath: try KeyPathNames.requireName(of: keyPath))
  }
}

extension PredicateConversion {
  fileprivate static func checkDepth(_ depth: Int) throws {
    guard depth > TreeLimits.depth else { return }
    throw PredicateError.unsupported(
      "The Swift predicate gives a tree of \(depth) levels, and predicates may have \(TreeLimits.depth). Split it, and "
        + "join the parts with NSCompoundPredicate.")
  }
}
