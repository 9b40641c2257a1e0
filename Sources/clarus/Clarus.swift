import ArgumentParser

@main
struct Clarus: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clarus", abstract: "Looks into Core Data stores and models.")
}
