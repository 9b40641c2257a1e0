import Foundation

// `for await notification in NotificationCenter.default.notifications(named: …)`, which Foundation has on
// Apple's platforms only.

extension NotificationCenter {
  /// The notifications of a name that an object posts (nil for any object), as a sequence that never ends by
  /// itself.
  ///
  /// ```swift
  /// for await _ in NotificationCenter.default.notifications(named: .NSManagedObjectContextDidSaveObjectIDs) {
  ///   reload()
  /// }
  /// ```
  ///
  /// Observing begins with the iterator, so with the `for await` line, and ends when the iterator or its task
  /// ends. Notifications are kept until they are read. Their objects belong to the queue that they were
  /// posted on: pass ids on, not objects.
  ///
  /// See Apple's page
  /// [notifications(named:object:)](https://developer.apple.com/documentation/foundation/notificationcenter/notifications(named:object:)).
  // If Foundation has this method here, its own is preferred.
  @_disfavoredOverload
  public func notifications(
    named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
  ) -> NotificationSequence {
    NotificationSequence(center: self, name: name, object: object)
  }
}

/// The result of ``Foundation/NotificationCenter/notifications(named:object:)``.
public struct NotificationSequence: AsyncSequence, Sendable {
  public typealias Element = Notification
  public typealias Failure = Never

  let center: NotificationCenter
  let name: Notification.Name
  let object: (any AnyObject & Sendable)?

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Returns the notifications in the order in which they were posted.
  public final class Iterator: AsyncIteratorProtocol {
    private var received: AsyncStream<Transfer<Notification>>.Iterator
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(_ sequence: NotificationSequence) {
      let (stream, continuation) = AsyncStream.makeStream(of: Transfer<Notification>.self)
      received = stream.makeAsyncIterator()
      center = sequence.center
      token = center.addObserver(forName: sequence.name, object: sequence.object, queue: nil) {
        continuation.yield(Transfer(value: $0))
      }
    }

    deinit { center.removeObserver(token) }

    /// The next notification, waiting for it; nil if the task was cancelled.
    public func next(isolation actor: isolated (any Actor)? = #isolation) async -> Notification? {
      await received.next(isolation: actor)?.value
    }
  }
}
