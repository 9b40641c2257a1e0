import StackSupport
import Testing

// The behaviour suite: what Apple's documentation says of Core Data, and what is widely observed, as numbered
// rules with a test each. A rule is named where it is proved, by the trait `.rule(id, source, text)`; the
// source is the page of Apple's documentation, or "observed". Rules that nothing can prove yet are listed
// below with the reason. `RuleListTests` keeps the two lists complete and prints them.

/// The tests written for single rules; others stand in the suites of their subject.
@Suite enum Behaviour {}

/// A chapter of rules, numbered from 1.
struct RuleSection: Sendable {
  let id: String
  let title: String
  let count: Int

  static let all: [RuleSection] = [
    RuleSection(id: "LIFE", title: "Life-cycle callbacks", count: 17),
    RuleSection(id: "STATE", title: "State flags and change dictionaries", count: 8),
    RuleSection(id: "FAULT", title: "Faults", count: 12),
    RuleSection(id: "ID", title: "Object ids", count: 5),
    RuleSection(id: "ACC", title: "Accessors", count: 7),
    RuleSection(id: "REL", title: "Relationships", count: 12),
    RuleSection(id: "DEL", title: "Delete rules", count: 7),
    RuleSection(id: "EVENT", title: "Pending changes, saving, notifications", count: 12),
    RuleSection(id: "UNDO", title: "Undo", count: 7),
    RuleSection(id: "REF", title: "refresh, reset, rollback", count: 7),
    RuleSection(id: "MERGE", title: "Merging and child contexts", count: 14),
    RuleSection(id: "QUEUE", title: "Queues", count: 5),
    RuleSection(id: "FETCH", title: "Fetching", count: 20),
    RuleSection(id: "VALID", title: "Validation", count: 12),
    RuleSection(id: "CONF", title: "Conflicts and merge policies", count: 9),
    RuleSection(id: "UNIQ", title: "Uniqueness constraints", count: 6),
    RuleSection(id: "BATCH", title: "Batch requests", count: 3),
    RuleSection(id: "HIST", title: "History, generations, remote changes", count: 9),
    RuleSection(id: "STORE", title: "Coordinator, stores, container", count: 17),
    RuleSection(id: "HASH", title: "Version hashes", count: 4),
    RuleSection(id: "MIG", title: "Migration", count: 16),
    RuleSection(id: "CTRL", title: "Controllers", count: 7),
  ]
}

/// A rule that no test can prove, and why.
struct UntestedRule: Sendable {
  let id: String
  let text: String
  let reason: String

  private static let batch = "there are no batch requests yet"
  private static let history = "there is no persistent history yet"
  private static let migration = "there is no migration yet: a store of another model is refused"
  private static let appKit = "AppKit's controllers are not there yet"

  static let all: [UntestedRule] = [
    UntestedRule(
      id: "LIFE-16", text: "An overridden initialiser's changes are not tracked.",
      reason: "advice to those who subclass, nothing that the framework does"),
    UntestedRule(
      id: "EVENT-12", text: "Of the context's sets none is key-value observable, hasChanges is.",
      reason: "there is no key-value observing off Apple's platforms"),
    UntestedRule(id: "BATCH-1", text: "They bypass contexts.", reason: batch),
    UntestedRule(id: "BATCH-2", text: "What each kind takes.", reason: batch),
    UntestedRule(id: "BATCH-3", text: "What each kind gives.", reason: batch),
    UntestedRule(id: "HIST-1", text: "Tracking is an option of opening.", reason: history),
    UntestedRule(id: "HIST-2", text: "One transaction a save and store, with its author.", reason: history),
    UntestedRule(id: "HIST-3", text: "Tokens, and what a purged one gives.", reason: history),
    UntestedRule(id: "HIST-4", text: "Changes and tombstones.", reason: history),
    UntestedRule(id: "HIST-5", text: "History can be asked by predicate.", reason: history),
    UntestedRule(
      id: "HIST-6", text: "Notifications of writes by others.", reason: "there is no such notification yet"),
    UntestedRule(
      id: "STORE-7", text: "migratePersistentStore moves a store.", reason: "there is no such method yet"),
    UntestedRule(
      id: "STORE-8", text: "setURL(_:for:) by kind of store.", reason: "there is no such method yet"),
    UntestedRule(
      id: "STORE-9", text: "Destroying and replacing keep journals consistent.",
      reason: "there are no such methods yet"),
    UntestedRule(
      id: "STORE-13", text: "Atomic stores load once and rewrite.",
      reason: "stores of one's own can't be made yet"),
    UntestedRule(
      id: "STORE-14", text: "What incremental stores must answer.",
      reason: "stores of one's own can't be made yet"),
    UntestedRule(id: "MIG-1", text: "Opening with automatic migration.", reason: migration),
    UntestedRule(id: "MIG-3", text: "What can be inferred.", reason: migration),
    UntestedRule(id: "MIG-4", text: "Renaming along a chain of versions.", reason: migration),
    UntestedRule(id: "MIG-5", text: "Types, names and order of mappings.", reason: migration),
    UntestedRule(id: "MIG-6", text: "Source expressions.", reason: migration),
    UntestedRule(id: "MIG-7", text: "What value expressions see.", reason: migration),
    UntestedRule(id: "MIG-8", text: "The pass of instances.", reason: migration),
    UntestedRule(id: "MIG-9", text: "The pass of relationships.", reason: migration),
    UntestedRule(id: "MIG-10", text: "The pass of validation and saving.", reason: migration),
    UntestedRule(id: "MIG-11", text: "Associations are many-to-many.", reason: migration),
    UntestedRule(id: "MIG-12", text: "Cancelling surfaces the error given.", reason: migration),
    UntestedRule(id: "MIG-13", text: "Plain objects, not custom classes.", reason: migration),
    UntestedRule(
      id: "MIG-14", text: "In place for inferred mappings; else the new file comes last.", reason: migration),
    UntestedRule(id: "MIG-15", text: "Staged migration.", reason: migration),
    UntestedRule(id: "MIG-16", text: "Deferred lightweight migration.", reason: migration),
    UntestedRule(id: "CTRL-5", text: "NSObjectController in entity mode.", reason: appKit),
    UntestedRule(id: "CTRL-6", text: "NSArrayController's selection, filter, arranging.", reason: appKit),
    UntestedRule(id: "CTRL-7", text: "NSTreeController's paths.", reason: appKit),
  ]
}
