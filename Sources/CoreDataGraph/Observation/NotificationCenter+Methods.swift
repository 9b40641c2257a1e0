import Foundation
import Synchronization

// Observers by method, which are observers by selector on Apple's platforms.

extension NotificationCenter {
  /// Calls a method of an object for each notification: `addObserver(_:selector:name:object:)` of Apple's
  /// platforms, with a closure in place of the selector.
  ///
  /// ```swift
  /// center.addObserver(
  ///   self, method: { $0.contextDidSave($1) }, name: .NSManagedObjectContextDidSave, object: context)
  /// ```
  ///
  /// The method is called on the thread that posts, before `post` returns. The observer is held weakly; it
  /// may be removed by ``removeObserver(_:)-(Observer)``, and need not be.
  ///
  /// - Parameter method: called with the observer, so that it need not hold it.
  public func addObserver<Observer: AnyObject>(
    _ observer: Observer, method: @escaping (Observer, Notification) -> Void,
    name: Notification.Name?, object: Any?
  ) {
    let registration = MethodRegistration(observer, self, name: name, object: object as AnyObject?)
    let call = MethodCall(observer: observer, method: method)
    registration.token = addObserver(forName: name, object: object, queue: nil) { notification in
      guard let observer = call.observer else { return registration.cancel() }
      call.method(observer, notification)
    }
    MethodRegistration.add(registration)
  }

  /// Removes an observer, whether it was added with a method or is the token of a closure.
  public func removeObserver<Observer: AnyObject>(_ observer: Observer) {
    let own: [MethodRegistration] = MethodRegistration.remove(observer) { $0.center === self }
    for registration in own { registration.cancel() }
    if own.isEmpty { removeObserver(observer as Any) }
  }

  /// Removes an observer of some notifications only; nil stands for all.
  public func removeObserver<Observer: AnyObject>(
    _ observer: Observer, name: Notification.Name?, object: Any?
  ) {
    let sender: AnyObject? = object as AnyObject?
    let own: [MethodRegistration] = MethodRegistration.remove(observer) {
      $0.center === self && (name == nil || $0.name == name) && (sender == nil || $0.object === sender)
    }
    for registration in own { registration.cancel() }
    if own.isEmpty { removeObserver(observer as Any, name: name, object: object) }
  }
}

/// What a notification calls.
// The closure is called by whoever posts, as a selector is; what it may use there is the program's choice.
private final class MethodCall<Observer: AnyObject>: @unchecked Sendable {
  private(set) weak var observer: Observer?
  let method: (Observer, Notification) -> Void

  init(observer: Observer, method: @escaping (Observer, Notification) -> Void) {
    self.observer = observer
    self.method = method
  }
}

/// One call of `addObserver(_:method:name:object:)`.
// The token is set before the registration is in the table, and read by who has taken it out.
private final class MethodRegistration: @unchecked Sendable {
  private weak var observer: AnyObject?
  private(set) weak var center: NotificationCenter?
  let name: Notification.Name?
  private(set) weak var object: AnyObject?
  private let key: ObjectIdentifier
  var token: (any NSObjectProtocol)?

  init(_ observer: AnyObject, _ center: NotificationCenter, name: Notification.Name?, object: AnyObject?) {
    self.observer = observer
    self.center = center
    self.name = name
    self.object = object
    key = ObjectIdentifier(observer)
  }

  /// By the identity of the observer. An object at the address of a former one has the same.
  private static let all = Mutex<[ObjectIdentifier: [MethodRegistration]]>([:])

  static func add(_ registration: MethodRegistration) {
    all.withLock { all in
      // Those of a former object at this address are called no more.
      let present: [MethodRegistration] = (all[registration.key] ?? []).filter { $0.observer != nil }
      all[registration.key] = present + [registration]
    }
  }

  static func remove(
    _ observer: AnyObject, _ isMeant: (MethodRegistration) -> Bool
  ) -> [MethodRegistration] {
    all.withLock { all in
      let key = ObjectIdentifier(observer)
      guard let present = all[key] else { return [] }
      let removed: [MethodRegistration] = present.filter { $0.observer === observer && isMeant($0) }
      let kept: [MethodRegistration] = present.filter { one in !removed.contains { $0 === one } }
      all[key] = kept.isEmpty ? nil : kept
      return removed
    }
  }

  /// Ends the calls.
  func cancel() {
    Self.all.withLock { all in
      all[key]?.removeAll { $0 === self }
      if all[key]?.isEmpty == true { all[key] = nil }
    }
    if let token { center?.removeObserver(token as Any) }
  }
}
