#if !canImport(ObjectiveC)

  extension AnyKeyPath {
    /// The name as key-value coding writes it (`boss.name`); nil where the key path has none.
    ///
    /// The standard library has a property of this name, which is the name of `@objc` properties and nil
    /// elsewhere. Libraries that turn key paths into predicates use it, so here it has the names of managed
    /// properties, and all that ``KeyPathNaming`` names. Where a file imports CoreData the compiler takes
    /// this one.
    ///
    /// - Cost: a look-up in a dictionary; the first time the getter of a managed property is run a few times.
    public var _kvcKeyPathString: String? { KeyPathNames.name(of: self) }
  }

#endif
