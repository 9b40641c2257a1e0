/// Classes of Apple's user interfaces, by the modules that have them.
enum AppleClasses {
  /// The module of a class; nil for other names.
  static func module(of name: String) -> String? {
    if let module = others[name] { return module }
    if name.hasPrefix("UI"), name.dropFirst(2).first?.isUppercase == true {
      return interfaceKit.contains { name.hasPrefix($0) } ? "UIKit" : nil
    }
    if name.hasPrefix("NS") { return applicationKit.contains(name) ? "AppKit" : nil }
    return nil
  }

  /// What names begin with.
  private static let interfaceKit: [String] = [
    "UIAccessibility", "UIAction", "UIActivity", "UIAlert", "UIApplication", "UIBackground", "UIBar",
    "UIBezier", "UIButton", "UICollection", "UIColor", "UIContextMenu", "UIControl", "UIDatePicker",
    "UIDevice", "UIDocument", "UIEdgeInsets", "UIEvent", "UIFont", "UIGesture", "UIGraphics", "UIHosting",
    "UIImage", "UIKey", "UILabel", "UILayout", "UILocalNotification", "UILongPress", "UIManagedDocument",
    "UIMenu", "UINavigation", "UINib", "UIPage", "UIPan", "UIPasteboard", "UIPicker", "UIPinch", "UIProgress",
    "UIRefresh", "UIResponder", "UIScene", "UIScreen", "UIScroll", "UISearch", "UISegmented", "UISlider",
    "UISplit", "UIStack", "UIStepper", "UIStoryboard", "UISwipe", "UISwitch", "UITab", "UITap", "UIText",
    "UIToolbar", "UITouch", "UIUserNotification", "UIView", "UIVisualEffect", "UIWindow",
  ]

  private static let applicationKit: Set<String> = [
    "NSAlert", "NSApp", "NSApplication", "NSApplicationDelegate", "NSArrayController", "NSBezierPath",
    "NSBox", "NSButton", "NSCollectionView", "NSCollectionViewItem", "NSColor", "NSComboBox", "NSController",
    "NSDocument", "NSDocumentController", "NSEvent", "NSFont", "NSImage", "NSImageView", "NSMenu",
    "NSMenuItem", "NSNib", "NSObjectController", "NSOpenPanel", "NSOutlineView", "NSPanel", "NSPasteboard",
    "NSPersistentDocument", "NSPopUpButton", "NSResponder", "NSSavePanel", "NSScreen", "NSScrollView",
    "NSSearchField", "NSSplitView", "NSSplitViewController", "NSStackView", "NSStoryboard",
    "NSStoryboardSegue", "NSTableCellView", "NSTableColumn", "NSTableRowView", "NSTableView",
    "NSTableViewDataSource", "NSTableViewDelegate", "NSTabView", "NSTextField", "NSTextView",
    "NSTreeController", "NSTreeNode", "NSUserInterfaceItemIdentifier", "NSView", "NSViewController",
    "NSWindow", "NSWindowController", "NSWorkspace",
  ]

  private static let others: [String: String] = [
    "AnyCancellable": "Combine", "PassthroughSubject": "Combine", "CurrentValueSubject": "Combine",
    "AnyPublisher": "Combine", "ObservableObject": "Combine", "Published": "Combine",
    "FetchRequest": "SwiftUI", "SectionedFetchRequest": "SwiftUI", "FetchedResults": "SwiftUI",
    "StateObject": "SwiftUI", "ObservedObject": "SwiftUI", "EnvironmentObject": "SwiftUI",
    "NavigationView": "SwiftUI", "NavigationStack": "SwiftUI", "WindowGroup": "SwiftUI",
    "View": "SwiftUI", "App": "SwiftUI", "Scene": "SwiftUI", "ViewModifier": "SwiftUI",
    "PreviewProvider": "SwiftUI", "State": "SwiftUI", "Binding": "SwiftUI", "Environment": "SwiftUI",
    "AppStorage": "SwiftUI", "UIViewRepresentable": "SwiftUI", "NSViewRepresentable": "SwiftUI",
    "CLLocation": "CoreLocation", "CLLocationCoordinate2D": "CoreLocation", "MKMapView": "MapKit",
    "CKRecord": "CloudKit", "CKContainer": "CloudKit", "CSSearchableItem": "CoreSpotlight",
  ]

  /// Names that programs use for types of their own: they count where the file imports the module.
  static let common: Set<String> = [
    "FetchRequest", "FetchedResults", "SectionedFetchRequest", "Published", "NavigationView",
    "NavigationStack", "WindowGroup", "View", "App", "Scene", "ViewModifier", "PreviewProvider", "State",
    "Binding", "Environment", "AppStorage",
  ]
}

extension PortingPass {
  /// `UIImage`, and whatever else is not there without its module. In a build the compiler decides, which
  /// knows the types of other modules; a file that imports none of these is warned of what the compiler will
  /// say.
  mutating func appleClass(_ index: Int) {
    let name: String = text(index)
    guard style == .kept || importsKnownModulesOnly, let module = AppleClasses.module(of: name),
      platform.canImport(module) == false
    else { return }
    // The program may have a type of this name too.
    let isQualified: Bool = text(index - 1) == "." && text(index - 2) == module
    guard isQualified || !typeNames.contains(name) && text(index - 1) != ".", text(index + 1) != ":",
      !["func", "var", "let", "case", "class", "struct", "typealias"].contains(text(index - 1))
    else { return }
    if AppleClasses.common.contains(name), !isQualified, !imports(module) { return }
    note(
      style == .kept ? .appleClass : .doubtfulAppleClass, at: tokens[index].range,
      "\(name) is in \(module), which exists on Apple's platforms only: put what uses it into #if canImport(\(module))."
    )
  }

  /// Whether every module that the file imports here is one that has none of these classes.
  private var importsKnownModulesOnly: Bool {
    file.imports.allSatisfy { found in
      ["Foundation", "FoundationEssentials", "CoreData", "Swift", "Dispatch", "Observation"].contains(
        found.module)
        || platform.canImport(found.module) == false
    }
  }

  /// Whether the file imports a module anywhere, also where the compiler does not look.
  private func imports(_ module: String) -> Bool { importedModules.contains(module) }

  // MARK: Objective-C's forms

  /// `@objc protocol Delegate {`: without the attribute a protocol is not one of classes, and nobody can
  /// refer to it weakly.
  mutating func keepClassBound(_ last: Int) {
    var place: Int = last
    while PortingPass.accessAndKind.contains(text(place)) || ["private", "fileprivate"].contains(text(place))
    {
      place += 1
    }
    guard text(place) == "protocol", isWord(place + 1), text(place + 2) == "{" else { return }
    note(.classBound, at: range(place, place + 2))
    let end: Int = tokens[place + 1].range.upperBound
    edit(end..<end, ": AnyObject")
  }

  /// `context.perform(selector, with: object)`
  mutating func performedSelector(_ index: Int) {
    guard text(index - 1) == ".", text(index + 1) == "(" else { return }
    let last: Int = end(of: index + 1)
    var place: Int = index + 2
    while place < last, text(place) != "," {
      // A selector that is written out is listed itself.
      if text(place) == "#selector" { return }
      place = ["(", "[", "{"].contains(text(place)) ? end(of: place) : place + 1
    }
    guard place < last, text(place) == ",", ["with", "afterDelay"].contains(text(place + 1)),
      text(place + 2) == ":"
    else { return }
    note(.selector, at: range(index, last))
  }

  /// `NSURL.fileURL(withPath: path)`
  mutating func fileURL(_ index: Int) {
    guard text(index + 1) == ".", text(index + 2) == "fileURL", text(index + 3) == "(",
      text(index + 4) == "withPath", text(index + 5) == ":"
    else { return }
    note(.fileURL, at: range(index, index + 5))
    edit(range(index, index + 5), "URL(fileURLWithPath")
  }
}
