import CoreDataModel
import CoreDataPredicates
import Foundation

// A program that uses models and nothing else: it is linked without the evaluator, SQL and stores.
// ModelToolTests runs it.
//
//     ModelTool MODEL     the entities with their version hashes, the fetch request templates with their
//                          predicates
//     ModelTool           the error of an evaluation, which this program can't do

switch CommandLine.arguments.dropFirst().first {
case let path?:
  let model: NSManagedObjectModel = try NSManagedObjectModel.load(
    contentsOf: URL(fileURLWithPath: path)
  ).model
  for (name, hash) in model.entityVersionHashesByName.sorted(by: { $0.key < $1.key }) {
    print("entity \(name) \(hash.base64EncodedString())")
  }
  for (name, template) in model.fetchRequestTemplatesByName.sorted(by: { $0.key < $1.key }) {
    print("template \(name) \(template.predicate.map { "\($0)" } ?? "")")
  }
case nil:
  let predicate = NSPredicate(format: "name == %@ AND age > 3", "Ada")
  let order = NSSortDescriptor(key: "name", ascending: true)
  let attempts: [() throws -> Any?] = [
    { try predicate.evaluateThrowing(with: ["name": "Ada", "age": 4]) },
    { try NSExpression(format: "1 + 2").expressionValueThrowing(with: nil) },
    { try order.compareThrowing(["name": "a"], to: ["name": "b"]) },
  ]
  for attempt in attempts {
    do { print("gave", try attempt() ?? "nil") } catch { print("error \(error)") }
  }
}

private typealias NSExpression = CoreDataPredicates.NSExpression
