import CoreData
import Foundation
import StackSupport

// The model of the tests for Swift predicates and key paths: every kind of property, as
// generated classes write them.
//
//     Worker ← Chief          Chief ──reports──→ Worker.boss        Squad ──members──→ Worker.squad
//     Worker ──skills──→ Skill.owners (many-to-many)                Squad ──jobs (ordered)──→ Job.squad

enum TeamModel {
  static let shared: NSManagedObjectModel = {
    let worker = World.entity(
      "Worker",
      [
        World.attribute("name", .stringAttributeType), World.attribute("nick", .stringAttributeType),
        World.attribute("age", .integer16AttributeType), World.attribute("points", .integer64AttributeType),
        World.attribute("pay", .doubleAttributeType), World.attribute("share", .floatAttributeType),
        World.attribute("active", .booleanAttributeType), World.attribute("vip", .booleanAttributeType),
        World.attribute("hired", .dateAttributeType), World.attribute("left", .dateAttributeType),
        World.attribute("id", .UUIDAttributeType), World.attribute("badge", .binaryDataAttributeType),
        World.attribute("home", .URIAttributeType), World.attribute("cost", .decimalAttributeType),
        World.attribute("gradeNumber", .integer16AttributeType),
        World.attribute("moodName", .stringAttributeType),
        World.attribute("labels", .transformableAttributeType),
      ])
    let chief = World.entity("Chief", [World.attribute("budget", .doubleAttributeType)])
    worker.subentities = [chief]
    let squad = World.entity("Squad", [World.attribute("name", .stringAttributeType)])
    let skill = World.entity(
      "Skill",
      [World.attribute("name", .stringAttributeType), World.attribute("rank", .integer32AttributeType)])
    let job = World.entity(
      "Job",
      [World.attribute("name", .stringAttributeType), World.attribute("hours", .integer32AttributeType)])
    World.pair(chief, "reports", .many, .nullifyDeleteRule, worker, "boss", .one, .nullifyDeleteRule)
    World.pair(squad, "members", .many, .nullifyDeleteRule, worker, "squad", .one, .nullifyDeleteRule)
    World.pair(worker, "skills", .many, .nullifyDeleteRule, skill, "owners", .many, .nullifyDeleteRule)
    World.pair(squad, "jobs", .ordered, .cascadeDeleteRule, job, "squad", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [worker, chief, squad, skill, job]
    return model
  }()

  /// A stack whose store holds the workers of ``populate(_:)``.
  static func stack(_ kind: StoreKind) throws -> Stack {
    let stack = try Stack(kind, model: shared)
    try stack.run { context in
      populate(context)
      try context.save()
    }
    return stack
  }

  /// Twelve workers in which everything that can be nil sometimes is.
  static func populate(_ context: NSManagedObjectContext) {
    let skills: [Skill] = ["swift", "sql", "tea"].enumerated().map { place, name in
      let skill = Skill(context: context)
      skill.name = name
      skill.rank = Int32(place * 10)
      return skill
    }
    let squads: [Squad] = ["red", "blue"].map { name in
      let squad = Squad(context: context)
      squad.name = name
      return squad
    }
    for (squad, names) in zip(squads, [["plan", "build"], ["build"]]) {
      squad.jobs = names.map { name in
        let job = Job(context: context)
        job.name = name
        job.hours = Int32(name.count)
        return job
      }
    }
    let names: [String] = [
      "Ann", "Bea", "Cid", "Dora", "Eve", "Fay", "Zoë", "zoe", "", "Ines\nOtto", "Kim|Lee", "_Max",
    ]
    var workers: [Worker] = []
    for (place, name) in names.enumerated() {
      let worker: Worker = place % 4 == 0 ? Chief(context: context) : Worker(context: context)
      worker.name = name
      worker.nick = place % 3 == 0 ? nil : place % 3 == 1 ? String(name.prefix(1)) : ""
      worker.age = Int16(place * 7 - 20)
      worker.points = Int64(place)
      worker.pay = Double(place) * 1.5
      worker.share = Float(place) / 4
      worker.active = place % 2 == 0
      worker.vip = place % 3 == 0 ? nil : place % 3 == 1
      worker.hired = Date(timeIntervalSinceReferenceDate: Double(place) * 1000)
      worker.left = place % 2 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(place) * 2000)
      worker.id = UUID(uuid: (UInt8(place), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
      worker.badge = place % 5 == 0 ? nil : Data([UInt8(place)])
      worker.home = place % 4 == 1 ? nil : url("https://example.org/\(place)")
      worker.cost = place % 6 == 0 ? nil : Decimal(place) / 4
      worker.grade = place % 3 == 0 ? .senior : .junior
      worker.mood = place % 4 == 0 ? nil : place % 4 == 1 ? .gay : .grave
      worker.labels = place % 3 == 0 ? nil : ["first", "\(place)"]
      worker.squad = place % 3 == 2 ? nil : squads[place % 3]
      worker.skills = Set(skills.prefix((place + place / 4) % 4))
      if place > 0, place % 4 != 3 {
        worker.boss = workers[place / 4 * 4 == place ? 0 : place / 4 * 4] as? Chief
      }
      (worker as? Chief)?.budget = Double(place) * 100
      workers.append(worker)
    }
  }
}

enum Grade: Int16, Codable, CaseIterable {
  case junior = 1
  case senior = 2
}

enum Mood: String, Codable, CaseIterable {
  case gay, grave
}

class Worker: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let nickKey = ManagedKey("nick")
  private static let ageKey = ManagedKey("age")
  private static let pointsKey = ManagedKey("points")
  private static let payKey = ManagedKey("pay")
  private static let shareKey = ManagedKey("share")
  private static let activeKey = ManagedKey("active")
  private static let vipKey = ManagedKey("vip")
  private static let hiredKey = ManagedKey("hired")
  private static let leftKey = ManagedKey("left")
  private static let idKey = ManagedKey("id")
  private static let badgeKey = ManagedKey("badge")
  private static let homeKey = ManagedKey("home")
  private static let costKey = ManagedKey("cost")
  private static let gradeKey = ManagedKey("gradeNumber")
  private static let moodKey = ManagedKey("moodName")
  private static let labelsKey = ManagedKey("labels")
  private static let bossKey = ManagedKey("boss")
  private static let squadKey = ManagedKey("squad")
  private static let skillsKey = ManagedKey("skills")

  var name: String {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var nick: String? {
    get { managedValue(Self.nickKey) }
    set { setManagedValue(newValue, Self.nickKey) }
  }
  var age: Int16 {
    get { managedValue(Self.ageKey) }
    set { setManagedValue(newValue, Self.ageKey) }
  }
  var points: Int64 {
    get { managedValue(Self.pointsKey) }
    set { setManagedValue(newValue, Self.pointsKey) }
  }
  var pay: Double {
    get { managedValue(Self.payKey) }
    set { setManagedValue(newValue, Self.payKey) }
  }
  var share: Float {
    get { managedValue(Self.shareKey) }
    set { setManagedValue(newValue, Self.shareKey) }
  }
  var active: Bool {
    get { managedValue(Self.activeKey) }
    set { setManagedValue(newValue, Self.activeKey) }
  }
  var vip: Bool? {
    get { managedValue(Self.vipKey) }
    set { setManagedValue(newValue, Self.vipKey) }
  }
  var hired: Date {
    get { managedValue(Self.hiredKey) ?? .distantPast }
    set { setManagedValue(newValue, Self.hiredKey) }
  }
  var left: Date? {
    get { managedValue(Self.leftKey) }
    set { setManagedValue(newValue, Self.leftKey) }
  }
  var id: UUID? {
    get { managedValue(Self.idKey) }
    set { setManagedValue(newValue, Self.idKey) }
  }
  var badge: Data? {
    get { managedValue(Self.badgeKey) }
    set { setManagedValue(newValue, Self.badgeKey) }
  }
  var home: URL? {
    get { managedValue(Self.homeKey) }
    set { setManagedValue(newValue, Self.homeKey) }
  }
  var cost: Decimal? {
    get { managedValue(Self.costKey) }
    set { setManagedValue(newValue, Self.costKey) }
  }
  /// Stops on a number without case, which a trial must never hand it.
  var grade: Grade {
    get { Grade(rawValue: managedValue(Self.gradeKey))! }
    set { setManagedValue(newValue.rawValue, Self.gradeKey) }
  }
  var mood: Mood? {
    get { managedValue(Self.moodKey).flatMap { Mood(rawValue: $0) } }
    set { setManagedValue(newValue?.rawValue, Self.moodKey) }
  }
  var labels: [String]? {
    get { managedObjectValue(Self.labelsKey) }
    set { setManagedObjectValue(newValue, Self.labelsKey) }
  }
  var boss: Chief? {
    get { managedObject(Self.bossKey) }
    set { setManagedObject(newValue, Self.bossKey) }
  }
  var squad: Squad? {
    get { managedObject(Self.squadKey) }
    set { setManagedObject(newValue, Self.squadKey) }
  }
  var skills: Set<Skill> {
    get { managedSet(Self.skillsKey) }
    set { setManagedMembers(newValue, Self.skillsKey) }
  }

  // Not managed: a key path of these has no name, or another property's.
  var title: String { "\(name), \(nick ?? "")" }
  var loudName: String { name.uppercased() }
  var isOld: Bool { age > 60 }
  var yearsLeft: Int { max(0, 65 - Int(age)) }
  var effectiveAge: Int16 { age == 0 ? 1 : age }
  var constant: Int { 3 }
  var squadName: String { squad?.name ?? "" }
  var firstSkill: String? { skills.first?.name }
  /// By key-value coding, as sources from Apple's platforms have it.
  var oldName: String? { value(forKey: "name") as? String }
  var oldAge: Int { (primitiveValue(forKey: "age") as? NSNumber)?.intValue ?? 0 }
  var oldBoss: Chief? { value(forKey: "boss") as? Chief }
  var oldSkills: NSSet? { value(forKey: "skills") as? NSSet }
}

class Chief: Worker {
  private static let budgetKey = ManagedKey("budget")
  private static let reportsKey = ManagedKey("reports")

  var budget: Double {
    get { managedValue(Self.budgetKey) }
    set { setManagedValue(newValue, Self.budgetKey) }
  }
  var reports: Set<Worker> {
    get { managedSet(Self.reportsKey) }
    set { setManagedMembers(newValue, Self.reportsKey) }
  }
}

class Squad: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let membersKey = ManagedKey("members")
  private static let jobsKey = ManagedKey("jobs")

  var name: String {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var members: Set<Worker> {
    get { managedSet(Self.membersKey) }
    set { setManagedMembers(newValue, Self.membersKey) }
  }
  var jobs: [Job] {
    get { managedArray(Self.jobsKey) }
    set { setManagedMembers(newValue, Self.jobsKey) }
  }
}

class Skill: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let rankKey = ManagedKey("rank")
  private static let ownersKey = ManagedKey("owners")

  var name: String {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var rank: Int32 {
    get { managedValue(Self.rankKey) }
    set { setManagedValue(newValue, Self.rankKey) }
  }
  var owners: Set<Worker> {
    get { managedSet(Self.ownersKey) }
    set { setManagedMembers(newValue, Self.ownersKey) }
  }
}

class Job: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let hoursKey = ManagedKey("hours")

  var name: String {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var hours: Int32 {
    get { managedValue(Self.hoursKey) }
    set { setManagedValue(newValue, Self.hoursKey) }
  }
}
