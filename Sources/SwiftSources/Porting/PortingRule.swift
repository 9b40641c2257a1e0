/// What in sources for Apple's platforms differs where there is no Objective-C runtime.
package enum PortingRule: String, CaseIterable, Sendable {
  // Rewritten.
  case objectiveCAttribute = "objc-attribute"
  case dynamicModifier = "dynamic"
  case keyPath = "key-path"
  case comparisonSelector = "comparison-selector"
  case propertySelector = "property-selector"
  case valueTransformer = "value-transformer"
  case missingImport = "missing-import"
  case renamedProperty = "renamed-property"
  case managedMember = "managed-member"
  case ambiguousName = "ambiguous-name"
  case observer = "selector-observer"
  case appleModule = "apple-module"
  case appleSubmodule = "apple-submodule"
  case requestCast = "request-cast"
  case classInitializer = "class-initializer"
  case transformerInitializer = "transformer-initializer"
  case movedOverride = "moved-override"
  case timeConstant = "time-constant"
  case codedClass = "class-for-coder"
  case checkedKey = "key-validation"
  case listedFunction = "listed-function"
  case listedAccessor = "listed-accessor"
  case namedClass = "named-class"
  case classBound = "class-bound-protocol"
  case fileURL = "file-url"
  case defaultedRequirement = "defaulted-requirement"
  // Left.
  case unreadableKeyPath = "key-path-left"
  case selector = "selector"
  case unreadableObserver = "selector-observer-left"
  case keyValueObserving = "key-value-observing"
  case keyValidation = "key-validation-left"
  case appleModuleMember = "apple-module-left"
  case optionalRequirement = "optional-requirement"
  case overrideInExtension = "override-in-extension"
  case retroactiveArgument = "retroactive-cvararg"
  case hiddenMember = "managed-member-left"
  case progressObserver = "progress-observer"
  case absentType = "absent-type"
  case storeInitializer = "store-initializer"
  case bareInitializer = "bare-initializer"
  case appleClass = "apple-class"
  // To be looked at.
  case genericRequest = "generic-request"
  case dependentKeys = "dependent-keys"
  case untypedRequest = "untyped-request"
  case policyFunction = "policy-function"
  case foundBundle = "found-bundle"
  case ownModule = "own-module"
  case unreachedCode = "unreached-code"
  case unlistedAccessor = "unlisted-accessor"
  case doubtfulAppleClass = "doubtful-apple-class"
  case copiedRequest = "copied-request"
  case doubtfulObserving = "doubtful-observing"
  case classByName = "class-by-name"

  package enum Outcome: String, Sendable {
    /// The command changes it.
    case rewritten
    /// It does not compile and has to be changed by hand.
    case left
    /// It compiles and may do something else.
    case check
  }

  package var outcome: Outcome {
    switch self {
    case .objectiveCAttribute, .dynamicModifier, .keyPath, .comparisonSelector, .propertySelector,
      .valueTransformer, .missingImport, .renamedProperty, .managedMember, .ambiguousName, .observer,
      .appleModule, .appleSubmodule, .requestCast, .classInitializer, .transformerInitializer, .movedOverride,
      .timeConstant, .codedClass, .checkedKey, .listedFunction, .listedAccessor, .namedClass, .classBound,
      .fileURL,
      .defaultedRequirement:
      .rewritten
    case .unreadableKeyPath, .selector, .unreadableObserver, .keyValueObserving, .keyValidation,
      .appleModuleMember, .optionalRequirement, .overrideInExtension, .retroactiveArgument, .hiddenMember,
      .progressObserver, .absentType, .storeInitializer, .bareInitializer, .appleClass:
      .left
    case .genericRequest, .dependentKeys, .untypedRequest, .policyFunction, .foundBundle,
      .ownModule, .unreachedCode, .unlistedAccessor, .doubtfulAppleClass, .copiedRequest, .doubtfulObserving,
      .classByName:
      .check
    }
  }

  /// One sentence: what it is, and what to write.
  package var advice: String {
    switch self {
    case .objectiveCAttribute: "There is no Objective-C runtime: the attribute is removed."
    case .dynamicModifier: "There is no Objective-C runtime: the modifier is removed."
    case .keyPath: "#keyPath becomes the text of the path."
    case .comparisonSelector: "#selector of a comparison becomes Selector(\"…\")."
    case .propertySelector: "The name of a getter becomes its text."
    case .valueTransformer: "Foundation has no ValueTransformer here; CoreData has."
    case .missingImport:
      "On Apple's platforms another module brings this name along: the module that has it here is imported."
    case .renamedProperty:
      "The property has another name in the model; an accessor with that name replaces @NSManaged."
    case .managedMember: "@NSManaged becomes a computed property or a method."
    case .ambiguousName:
      "The name is in Foundation and in CoreData; aliases in one file of the module say which is meant."
    case .unreadableKeyPath: "#keyPath has to be written as text, or as a Swift key path."
    case .selector: "There are no selectors: pass a closure."
    case .observer: "The selector of an observer becomes a closure that calls the method."
    case .unreadableObserver:
      "Observe with a closure, addObserver(forName:object:queue:using:), or notifications(named:)."
    case .keyValueObserving, .doubtfulObserving:
      "Use observe(_:options:) with a closure; managed objects are Observable too."
    case .checkedKey: "Nothing finds the method by its name: the class calls it in validateValue(_:forKey:)."
    case .keyValidation: "Write a branch in validateValue(_:forKey:)."
    case .listedFunction:
      "Nothing calls a method by its selector: the class lists it in expressionFunctions, for expressions of mapping models."
    case .listedAccessor:
      "Key-value coding finds no computed property by its name: the class lists it in customAccessors, one that Codegen makes in an extension."
    case .namedClass:
      "Models name the class by its name in Objective-C: a type in it says so."
    case .unlistedAccessor:
      "Key-value coding finds no computed property by its name: list it in customAccessors of the class, or in an extension with AccessorListing."
    case .classBound: "Without @objc the protocol is one of classes by AnyObject."
    case .fileURL: "NSURL.fileURL(withPath:) is Objective-C's: URL(fileURLWithPath:) takes its place."
    case .defaultedRequirement:
      "Requirements can't be optional: this one has a default that does nothing, in an extension, and is called as any other. Where a class conforms without it, the method of a subclass is not called: let the class declare it too."
    case .appleClass, .doubtfulAppleClass:
      "The class is in a module of Apple's platforms: put what uses it into #if canImport(…) of that module."
    case .unreachedCode:
      "No branch holds here, so that nothing of this is compiled: add #else, or a branch for os(Linux)."
    case .classByName:
      "Classes are found by their name with its module alone, Shop.Item: the class of an entity may have none in the model."
    case .copiedRequest:
      "A request is not cast to another result type here: the function gets a copy, and what it changes in that is lost. Make the request with the type that the function takes."
    case .requestCast:
      "A request is not cast to another result type here: it is made with that type, or a copy of it is."
    case .classInitializer:
      "Swift makes objects of a type that is a value with required initialisers only: the class is named."
    case .transformerInitializer:
      "A transformer has a required init() here; this one is registered as an instance, and init() stops."
    case .movedOverride:
      "Swift allows no override in an extension: the class overrides, and calls the method of the extension."
    case .appleModule:
      "The module exists on Apple's platforms only: it is imported there, Foundation here. Put what uses it into #if canImport(…)."
    case .appleSubmodule: "Modules written in Swift have no parts: the whole module is imported."
    case .appleModuleMember:
      "The module exists on Apple's platforms only: put what needs it into #if canImport(…)."
    case .optionalRequirement:
      "Requirements can't be optional: give the requirement a default in an extension."
    case .overrideInExtension:
      "Move the override into the class: Swift allows none in an extension. A class that the model's Codegen makes has to be written by hand for that (Category/Extension)."
    case .retroactiveArgument:
      "CoreData declares this conformance: remove yours, or put it into #if !canImport(CoreData)."
    case .timeConstant: "A constant of C's headers, which are not imported here, becomes its number."
    case .codedClass: "classForCoder() is Objective-C's: the class itself takes its place."
    case .progressObserver:
      "Foundation's Progress has no observers here: observe the migration manager, or read it from a timer."
    case .absentType: "This does not exist here yet: put what needs it into #if canImport(ObjectiveC)."
    case .storeInitializer:
      "Coordinators make stores by another initialiser: override init(persistentStoreCoordinator:configurationName:at:options:) too."
    case .bareInitializer:
      "There is no initialiser without arguments here: make the object with its entity, the conflict with its objects, the predicate with a format or value, the coordinator with its model."
    case .untypedRequest:
      "The request has the type of its class here: for dictionaries, ids and counts write the type, NSFetchRequest<NSFetchRequestResult>."
    case .policyFunction:
      "Nothing calls a method by its selector: list it in expressionFunctions if an expression of a mapping model calls it."
    case .foundBundle:
      "Bundle(for:) is the program's bundle here, and Bundle(identifier:) finds none: the resources of a package's target are in Bundle.module."
    case .ownModule:
      "A module of the program has the name of Apple's, so that this is true here: where Apple's is meant, ask for canImport(ObjectiveC)."
    case .hiddenMember: "No accessors can be generated for this member."
    case .genericRequest: "A cast of a request to another result type fails: create it with its final type."
    case .dependentKeys:
      "Nothing calls this method: observers of the one property are not notified of the other."
    }
  }

  /// The page that explains it, in the folder of the documentation, with its part.
  package var page: String {
    switch self {
    case .observer, .unreadableObserver: "porting.md#observers"
    case .keyValueObserving, .doubtfulObserving, .dependentKeys: "porting.md#observers"
    case .keyPath, .unreadableKeyPath: "porting.md#names-of-properties"
    case .keyValidation, .checkedKey: "validation.md"
    case .valueTransformer, .transformerInitializer: "porting.md#value-transformers"
    case .untypedRequest: "porting.md#requests-of-a-generic-type"
    case .policyFunction, .listedFunction: "migration.md#a-policy"
    case .appleClass, .doubtfulAppleClass, .unreachedCode: "porting.md#apples-modules"
    case .listedAccessor, .unlistedAccessor: "porting.md#names-of-properties"
    case .storeInitializer: "stores-of-your-own.md"
    case .genericRequest, .requestCast, .copiedRequest: "porting.md#requests-of-a-generic-type"
    case .retroactiveArgument: "porting.md#arguments"
    case .absentType: "porting.md#what-does-not-exist-yet"
    case .managedMember, .hiddenMember, .renamedProperty: "accessors.md#nsmanaged-as-it-stands"
    default: "porting.md"
    }
  }
}

/// A place where a rule applies.
package struct PortingFinding: Hashable, Sendable, CustomStringConvertible {
  package let rule: PortingRule
  package let path: String
  package let line: Int
  package let column: Int
  /// The source of the place.
  package let excerpt: String
  /// More than the rule says, for this place.
  package let detail: String?

  func at(line: Int, column: Int) -> PortingFinding {
    PortingFinding(rule: rule, path: path, line: line, column: column, excerpt: excerpt, detail: detail)
  }

  /// As compilers write it; an error where nothing can be rewritten.
  package var description: String {
    let kind: String = rule.outcome == .left ? "error" : "warning"
    return
      "\(path):\(line):\(column): \(kind): '\(excerpt)': \(detail ?? rule.advice) See Documentation/\(rule.page)"
  }
}
