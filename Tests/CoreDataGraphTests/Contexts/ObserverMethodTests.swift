import CoreData
import Testing

/// Observers by method, in place of those by selector.
struct ObserverMethodTests {
  private final class Observer {
    var calls: [String] = []
    func first(_ notification: Notification) { calls.append("first \(notification.name.rawValue)") }
    func second() { calls.append("second") }
  }

  private let center = NotificationCenter()
  private let name = Notification.Name("A")

  @Test func `a method is called by each notification, and no more after its removal`() {
    let observer = Observer()
    center.addObserver(observer, method: { $0.first($1) }, name: name, object: nil)
    center.addObserver(observer, method: { observer, _ in observer.second() }, name: nil, object: nil)
    center.post(name: name, object: nil)
    #expect(observer.calls.sorted() == ["first A", "second"])
    center.removeObserver(observer, name: name, object: nil)
    center.post(name: name, object: nil)
    #expect(observer.calls.sorted() == ["first A", "second", "second"])
    center.removeObserver(observer)
    center.post(name: name, object: nil)
    #expect(observer.calls.count == 3)
  }

  @Test func `only notifications of the object count`() {
    let (observer, sender, other) = (Observer(), Observer(), Observer())
    center.addObserver(observer, method: { $0.first($1) }, name: name, object: sender)
    center.post(name: name, object: other)
    #expect(observer.calls.isEmpty)
    center.removeObserver(observer, name: name, object: other)
    center.post(name: name, object: sender)
    #expect(observer.calls.count == 1)
  }

  @Test func `the observer is not held, and another center's is not removed`() {
    weak var released: Observer?
    do {
      let observer = Observer()
      released = observer
      center.addObserver(observer, method: { $0.first($1) }, name: name, object: nil)
      NotificationCenter().removeObserver(observer)
      center.post(name: name, object: nil)
      #expect(observer.calls.count == 1)
    }
    #expect(released == nil)
    center.post(name: name, object: nil)
  }

  @Test func `tokens of closures are removed as before`() {
    let observer = Observer()
    let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in }
    center.addObserver(observer, method: { $0.first($1) }, name: name, object: nil)
    center.removeObserver(token)
    center.post(name: name, object: nil)
    #expect(observer.calls.count == 1)
  }
}
