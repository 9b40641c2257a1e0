import Foundation

// Code that depends on the memory layout of the Swift runtime, or of C's argument lists, which is no
// documented interface. All of it is in this module:
//
// | file            | reads                                             | without it                                         |
// |-----------------|---------------------------------------------------|----------------------------------------------------|
// | ClosureCode     | the address of a closure's code                   | sort descriptors of key paths sort in memory       |
// | VTableEntry     | the methods in a class's metadata                 | every class's validation and reads by key are called |
// | TypeSearch      | the records of types in programs and libraries    | models name classes with their module              |
// | ObservationScope| how Observation records what is read              | every read is recorded                             |
// | ArgumentList    | a C argument list, through C's own formatting     | formats take arrays of arguments only              |
//
// Each one tests itself at its first use, on its own closures, classes and lists, and is not used if the test
// fails; a unit test for each (`RuntimeLayoutTests`) then fails too, so that a changed toolchain is noticed.
// `CLARUS_RUNTIME_LAYOUT=0` in the environment turns all of them off, for tests and for finding the cause of
// a problem.
//
// Not here: `swift_tryRetain` (CSwiftRuntime), a function of the runtime's stable ABI; `unsafeBitCast` of
// arrays of classes to arrays of their parents and to `& Sendable`, which have one representation by the
// language's rules; the names of key paths, which are read from their description
// (`CoreDataPredicates/KeyPaths`).

package enum RuntimeLayout {
  /// Whether the layouts may be used at all. Read once.
  package static let isUsed: Bool = ProcessInfo.processInfo.environment["CLARUS_RUNTIME_LAYOUT"] != "0"
}
