import CoreDataEvaluation
import CoreDataPredicates
import Foundation

/// Laws that hold for every tree from any source. Errors are allowed, different results and crashes are not.
enum Laws {
  static func check(_ node: PredicateNode) {
    PredicateClock.$fixed.withValue(World.now) {
      checkPrinting(node)
      let predicate: Foundation.NSPredicate = makePredicate(node)
      checkEvaluation(predicate)
      checkArchive(predicate)
    }
  }

  static func check(_ node: ExpressionNode) {
    PredicateClock.$fixed.withValue(World.now) {
      let text: String = Printer.print(node)
      if Expressible.isExpressible(node) {
        do {
          let parsed: ExpressionNode = try Parser.expression(text)
          if parsed != node { finding("\(text) came back as \(Printer.print(parsed))") }
        } catch {
          finding("\(text) does not parse: \(error)")
        }
      }
      let expression: NSExpression = NSExpression(node: node)
      for object in World.objects {
        _ = try? expression.expressionValueThrowing(
          with: object, context: NSMutableDictionary(dictionary: World.variables))
      }
      checkArchive(expression)
    }
  }

  /// A printed tree parses to an equal tree that prints the same.
  private static func checkPrinting(_ node: PredicateNode) {
    let text: String = Printer.print(node)
    guard Expressible.isExpressible(node) else { return }
    do {
      let parsed: PredicateNode = try Parser.predicate(text)
      let again: String = Printer.print(parsed)
      if parsed != node { finding("\(text) came back as \(again)") }
      if again != text { finding("\(text) prints as \(again) after parsing") }
      if parsed.hashValue != node.hashValue { finding("\(text) has another hash after parsing") }
    } catch {
      finding("\(text) does not parse: \(error)")
    }
  }

  /// The same result twice, the inverse under NOT, and the same with the variables substituted before.
  private static func checkEvaluation(_ predicate: Foundation.NSPredicate) {
    let isRepeatable: Bool = !Expressible.isRandom(predicate.predicateNode())
    let contrary: Foundation.NSPredicate? =
      predicate.predicateNode().depth < TreeLimits.depth
      ? NSCompoundPredicate(notPredicateWithSubpredicate: predicate) : nil
    let closed: Foundation.NSPredicate = predicate.withSubstitutionVariables(World.variables)
    for object in World.objects {
      let answer: Bool? = try? predicate.evaluateThrowing(
        with: object, substitutionVariables: World.variables)
      _ = try? closed.evaluateThrowing(with: object)
      guard isRepeatable, let contrary else { continue }
      let other: Bool? = try? contrary.evaluateThrowing(with: object, substitutionVariables: World.variables)
      if other != answer.map({ !$0 }) {
        finding("\(predicate.formatText) is \(describe(answer)), NOT of it \(describe(other))")
      }
    }
  }

  private static func describe(_ answer: Bool?) -> String {
    answer.map(String.init) ?? "an error"
  }

  /// An archived object is decoded to an equal one.
  static func checkArchive<Root: PredicateArchiving & NSObject>(_ root: Root) {
    guard let data = try? root.archivedData() else { return }
    do {
      let again: NSObject =
        switch root {
        case is Foundation.NSPredicate: try Foundation.NSPredicate(archivedData: data)
        case is NSExpression: try NSExpression(archivedData: data)
        default: try NSSortDescriptor(archivedData: data)
        }
      if again != root, !Expressible.holdsNaN(root) { finding("\(root) came out of its archive as \(again)") }
    } catch {
      // Formats may name selectors that are unknown until a program registers them.
      if !"\(error)".contains("nothing answers") { finding("the archive of \(root) is refused: \(error)") }
    }
  }
}
