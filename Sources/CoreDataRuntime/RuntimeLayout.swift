import Foundation

// What depends on the memory layout of the Swift runtime, or of C's argument lists, and is no documented
// interface of theirs. All of it is in this module:
//
// | file            | reads                                             | without it                                         |
// |-----------------|---------------------------------------------------|----------------------------------------------------|
// | ClosureCode     | the address of a closure's code                   | sort descriptors of key paths sort in memory       |
// | MethodPlace     | the methods in a class's metadata                 | every class is asked to validate, and for its keys |
// | TypeSearch      | the records of types in programs and libraries    | models name classes with their module              |
// | ObservationScope| how Observation notes what is read                | every read is noted                                |
// | ArgumentList    | a C argument list, through C's own formatting     | formats take arrays of arguments only              |
//
// Each checks itself at its first use, on closures, classes and lists of its own, and does without where the
// check fails; a test for each (`RuntimeLayoutTests`) fails then, so that a new toolchain is noticed.
// `CLARUS_RUNTIME_LAYOUT=0` in the environment does without all of them, for tests and for
// whoever suspects one.
//
// Not here: `swift_tryRetain` (CSwiftRuntime), a function of the runtime's stable ABI; `unsafeBitCast` of
// arrays of classes to arrays of their parents and to `& Sendable`, which have one representation by the
// language's rules; the names of key paths, which are read from their description
// (`CoreDataPredicates/KeyPaths`).

package enum RuntimeLayout {
  /// Whether the layouts may be used at all. Read once.
  package static let isUsed: Bool = ProcessInfo.processInfo.environment["CLARUS_RUNTIME_LAYOUT"] != "0"
}
