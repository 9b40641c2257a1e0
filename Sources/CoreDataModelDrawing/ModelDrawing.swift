/// Pictures of a model, as text. Equal models have equal pictures, byte for byte.
package struct ModelDrawing: Sendable {
  package let diagram: Diagram
  /// Of the picture.
  package let title: String

  package init(_ diagram: Diagram, title: String) {
    self.diagram = diagram
    self.title = DrawnText.shown(title)
  }

  /// Files that were drawn contain this line near their beginning, so that they can be told from others.
  package static let mark: String = "Drawn by clarus model graph"

  /// Text within XML.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
