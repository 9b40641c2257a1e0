#if canImport(ObjectiveC)
  import CoreData

  // What the macros' accessors call, where CoreData is Apple's: key-value coding of primitive values.

  /// The name of a managed property.
  public struct ManagedKey: Sendable {
    public let name: String

    public init(_ name: String) { self.name = name }
  }

  extension NSManagedObject {
    private func value<Value>(_ key: ManagedKey, _ type: Value.Type) -> Value? {
      willAccessValue(forKey: key.name)
      defer { didAccessValue(forKey: key.name) }
      return primitiveValue(forKey: key.name) as? Value
    }

    private func set(_ value: Any?, _ key: ManagedKey) {
      willChangeValue(forKey: key.name)
      defer { didChangeValue(forKey: key.name) }
      setPrimitiveValue(value, forKey: key.name)
    }

    public func managedValue<Value>(_ key: ManagedKey) -> Value? { value(key, Value.self) }

    public func managedValue<Value: RawRepresentable>(_ key: ManagedKey) -> Value? {
      value(key, Value.RawValue.self).flatMap { Value(rawValue: $0) }
    }

    public func managedValue<Value>(_ key: ManagedKey) -> Value {
      guard let value: Value = managedValue(key) else {
        preconditionFailure(
          "\(entity.name ?? "").\(key.name) has no value: declare the property as \(Value.self)?.")
      }
      return value
    }

    public func managedValue<Value: RawRepresentable>(_ key: ManagedKey) -> Value {
      guard let value: Value = managedValue(key) else {
        preconditionFailure(
          "\(entity.name ?? "").\(key.name) has no value: declare the property as \(Value.self)?.")
      }
      return value
    }

    public func setManagedValue<Value>(_ value: Value?, _ key: ManagedKey) { set(value, key) }

    public func setManagedValue<Value: RawRepresentable>(_ value: Value?, _ key: ManagedKey) {
      set(value?.rawValue, key)
    }

    public func managedObject<Target: NSManagedObject>(_ key: ManagedKey) -> Target? { managedValue(key) }

    public func setManagedObject(_ target: NSManagedObject?, _ key: ManagedKey) { set(target, key) }

    public func managedSet<Member: NSManagedObject>(_ key: ManagedKey) -> Set<Member> {
      value(forKey: key.name) as? Set<Member> ?? []
    }

    public func managedArray<Member: NSManagedObject>(_ key: ManagedKey) -> [Member] {
      (value(forKey: key.name) as? NSOrderedSet)?.array as? [Member] ?? []
    }

    public func setManagedMembers<Member: NSManagedObject>(_ members: Set<Member>, _ key: ManagedKey) {
      setValue(members, forKey: key.name)
    }

    public func setManagedMembers<Member: NSManagedObject>(_ members: [Member], _ key: ManagedKey) {
      setValue(NSOrderedSet(array: members), forKey: key.name)
    }
  }
#endif
