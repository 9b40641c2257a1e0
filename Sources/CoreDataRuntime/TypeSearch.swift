import Foundation

// Finding a class by its bare name
// ================================
//
// A Core Data model names the class of an entity `Person` or `.Person`, without a module. On Apple's
// platforms the Objective-C runtime keeps a list of all classes. Off them there is no such list, and
// `NSClassFromString` needs `Module.Person`. But the compiler leaves a record of every type in every program
// and library, for the Swift runtime's own look-ups; this file walks those records.
//
//     runtime's registry          an image (program or .so) in memory
//     ┌─────────────────┐        ┌──────────────────────────────────────────────────────────┐
//     │ MetadataSections│───────▶│ swift5_type_metadata   Int32 │ Int32 │ Int32 │ …         │
//     │ one an image    │        │                          │ relative                      │
//     └─────────────────┘        │                          ▼                               │
//                                │ class descriptor   flags │ parent │ name │ accessor │ …  │
//                                │                                       │        │         │
//                                │                          "Person\0" ◀─┘        ▼         │
//                                │                                        code: → metadata  │
//                                └──────────────────────────────────────────────────────────┘
//
// **Where the sections are.** Each Swift image registers its sections with the runtime when it is loaded, and
// `swift_enumerateAllMetadataSections` returns them; Swift Testing discovers tests with the same call.
// Reading the section headers of the image's file would give the same answer, but not for files that are
// stripped of them, replaced or deleted since.
//
// `MetadataSections` (in words of the machine; `shims/MetadataSections.h` of the toolchain):
//
// | word | meaning                                                    |
// |------|------------------------------------------------------------|
// | 0    | version of this structure; fields are only ever appended   |
// | 1–3  | base address of the image; two unused                      |
// | 4, 5 | start and length in bytes of `swift5_protocols`            |
// | 6, 7 | the same of `swift5_protocol_conformances`                 |
// | 8, 9 | the same of `swift5_type_metadata`: **the one read here**  |
// | …    | more sections                                              |
//
// A record of `swift5_type_metadata` is an `Int32`. Its two low bits are a kind; the rest is an offset from
// the record itself:
//
// | kind | target of the offset                                        |
// |------|-------------------------------------------------------------|
// | 0    | the type's descriptor                                       |
// | 1    | a word that holds the address of the descriptor             |
// | 2, 3 | Objective-C classes; not here                               |
//
// The head of a class descriptor ("relative": an `Int32` offset from the field itself, 0 for none):
//
// | offset | size | meaning                                                                              |
// |--------|------|--------------------------------------------------------------------------------------|
// | 0      | 4    | flags: bits 0–4 the kind (16 class, 17 struct, 18 enum), bit 7 set if generic        |
// | 4      | 4    | relative: the context around it (module, type, extension, file-private scope)        |
// | 8      | 4    | relative: the bare name, UTF-8 with a zero at its end                                |
// | 12     | 4    | relative: the accessor, a function that makes and returns the class                  |
// | 16     | …    | fields, superclass, vtable: not needed                                               |
//
// For example (`TypeSearchTests` reads these bytes): a record at 0, a descriptor at 16, its name at 32.
//
//     0   10 00 00 00                the record: kind 0, 16 bytes further
//     16  50 00 00 80                flags: 0x10 is a class, bit 7 (generic) is not set, the rest is unused
//     20  00 00 00 00                no context
//     24  08 00 00 00                name: 24 + 8 = 32
//     28  e4 0f 00 00                accessor: 28 + 0xfe4 = 0x1000
//     32  50 65 72 73 6f 6e 00       "Person"
//
// See https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.md ("Nominal Type Descriptor") and
// https://github.com/swiftlang/swift/blob/main/docs/ABI/Mangling.rst (relative and symbolic references).
//
// **From descriptor to class.** The name of a private or local class holds a part that only the compiler
// knows, so building a name for `NSClassFromString` finds neither. The accessor finds every class that isn't
// generic, in debug and optimised builds alike. It is called for candidates only, so no class of the program
// is set up just because someone searched. It takes a request (0: complete metadata, wait for it) and returns
// two words, metadata and state. The Swift calling convention differs from C's only in registers that neither
// uses (self, error, async context), and the first of the two words comes back where C returns a pointer; so
// it is called as a C function, see
// https://github.com/swiftlang/swift/blob/main/docs/ABI/CallConvSummary.rst.
//
// **Trust.** Every address is checked against the memory that the dynamic linker reports as mapped at this
// moment, the accessor against executable memory. A library unloaded with `dlclose` is still in the runtime's
// registry, but no longer mapped; it is skipped. Data that does not look like the tables above is skipped
// too, never an error.

/// Finds classes by a name without module, as models contain them.
package enum TypeSearch {
  /// All classes of the process whose bare name is `bareName` and which are `base` or inherit from it,
  /// whatever module they are in, sorted by qualified name.
  ///
  /// It finds classes at top level, nested in types and extensions, private ones and ones local to a
  /// function. It does not find generic classes (they have no single type). Off Linux and Android, on 32-bit
  /// machines, or if the records don't look as described, the result is empty: a model must then name a class
  /// with its module, or by `NSStringFromClass(_:)` in code.
  ///
  /// `qualifiedName` is `Module.Outer.Person`, as `String(reflecting:)` prints it; a private or local scope
  /// appears as `Module.(private).Person`. If a result contains two classes of one name, the model can't
  /// distinguish them: report that to the user.
  ///
  /// - Queue: any.
  /// - Cost: the first call, and the first after a library is loaded, reads the name of each class in the
  ///   process (a few milliseconds); others are a dictionary look-up and a walk over the process's libraries
  ///   (microseconds).
  package static func classes(
    named bareName: String, subclassOf base: AnyClass, uses: Bool = RuntimeLayout.isUsed
  ) -> [(qualifiedName: String, type: AnyClass)] {
    guard uses, isReadable else { return [] }
    return find(bareName, subclassOf: base)
  }

  /// Whether a search can find anything: the records are read on this platform, and as described.
  package static let isSupported: Bool = RuntimeLayout.isUsed && isReadable

  /// Whether a class of this file is found by its name.
  package static let isReadable: Bool =
    find("TypeSearchProbe", subclassOf: TypeSearchProbe.self).contains { $0.type == TypeSearchProbe.self }

  private class TypeSearchProbe {}

  private static func find(
    _ bareName: String, subclassOf base: AnyClass
  ) -> [(qualifiedName: String, type: AnyClass)] {
    var found: [(qualifiedName: String, type: AnyClass)] = []
    for accessor in accessors(named: bareName) {
      let type: AnyClass = Self.type(accessor: accessor)
      if ClassAncestry.isClass(type, below: base) { found.append((qualifiedName(of: type), type)) }
    }
    return found.sorted { $0.qualifiedName < $1.qualifiedName }
  }

  private typealias Accessor = @convention(c) (_ request: UInt) -> UnsafeRawPointer

  private static func type(accessor: UInt) -> AnyClass {
    unsafeBitCast(unsafeBitCast(accessor, to: Accessor.self)(0), to: AnyClass.self)
  }

  /// The runtime prints a private scope as "(unknown context at $7f12…)": an address, which differs in each
  /// run and is useless in a message.
  package static func qualifiedName(of type: AnyClass) -> String {
    var name = String(reflecting: type)
    while let start = name.range(of: "(unknown context at "),
      let end = name.range(of: ")", range: start.upperBound..<name.endIndex)
    {
      name.replaceSubrange(start.lowerBound..<end.upperBound, with: "(private)")
    }
    return name
  }
}
