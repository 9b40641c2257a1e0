import CoreData

/// A class that another module extends and inherits from.
open class Named: NSManagedObject {
  @NSManaged open var name: String?
  @NSManaged open var rank: Int16
  @NSManaged public internal(set) var made: Date?
  @NSManaged open func addToTags(_ value: Tag)

  public func make(_ date: Date) { made = date }
}

open class Tag: NSManagedObject {
  @NSManaged public var text: String
  @NSManaged public var owner: Named?
}

public enum Grade: Int16, Sendable {
  case low, high
}

public final class Shade: NSObject {
  public let gray: Int
  public init(gray: Int) { self.gray = gray }
}
