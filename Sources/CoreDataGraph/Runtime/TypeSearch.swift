import CoreDataPredicates
import CoreDataStorage
import Foundation

#if (os(Linux) || os(Android)) && !(arch(arm) || arch(i386))
#endif

// Finding a class by its bare name
// ================================
//
// A Core Data model names the class of an entity `Person` or `.Person`, without a module. On Apple's
// platforms the Objective-C runtime keeps a list of all classes. Off them there is no such list, and
// `NSClassFromString` wants `Module.Person`. But the compiler leaves a record of every type in every program
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
// `swift_enumerateAllMetadataSections` hands them out; Swift Testing discovers tests with the same call.
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
// **Trust.** Every address is checked against the memory that the dynamic linker says is mapped at this
// moment, the accessor against executable memory. A library unloaded with `dlclose` is still in the runtime's
// registry, but no longer mapped; it is passed over. What does not look like the tables above is passed over
// too, never an error.

/// Finds classes by a name without module, which is how models name them.
enum TypeSearch {
  /// All classes of the process whose bare name is `bareName` and which are `base` or inherit from it,
  /// whatever module they are in, sorted by qualified name.
  ///
  /// Found are classes at top level, nested in types and extensions, private ones and ones local to a
  /// function. Not found are generic classes (they have no single type), and, off Linux and Android and on
  /// 32-bit machines, any: the result is empty there.
  ///
  /// `qualifiedName` is `Module.Outer.Person`, as `String(reflecting:)` prints it; a private or local scope
  /// appears as `Module.(private).Person`. Two classes of one name in a result can't be told apart by the
  /// model: say so to the user.
  ///
  /// - Queue: any.
  /// - Cost: the first call, and the first after a library is loaded, reads the name of each class in the
  ///   process (a few milliseconds); others are a dictionary look-up and a walk over the process's libraries
  ///   (microseconds).
  static func classes(
    named bareName: String, subclassOf base: AnyClass
  ) -> [(qualifiedName: String, type: AnyClass)] {
    var found: [(qualifiedName: String, type: AnyClass)] = []
    for accessor in accessors(named: bareName) {
      let type: AnyClass = Self.type(accessor: accessor)
      if isClass(type, base) { found.append((qualifiedName(of: type), type)) }
    }
    return found.sorted { $0.qualifiedName < $1.qualifiedName }
  }

  /// Whether a bare name is one of a managed class.
  static func isManaged(_ bareName: String) -> Bool {
    bareName == "NSManagedObject" || !classes(named: bareName, subclassOf: NSManagedObject.self).isEmpty
  }

  private typealias Accessor = @convention(c) (_ request: UInt) -> UnsafeRawPointer

  private static func type(accessor: UInt) -> AnyClass {
    unsafeBitCast(unsafeBitCast(accessor, to: Accessor.self)(0), to: AnyClass.self)
  }

  private static func isClass(_ type: AnyClass, _ base: AnyClass) -> Bool {
    var next: AnyClass? = type
    while let now = next {
      if now == base { return true }
      next = _getSuperclass(now)
    }
    return false
  }

  /// The runtime prints a private scope as "(unknown context at $7f12…)": an address, different in each run
  /// and of no use in a message.
  static func qualifiedName(of type: AnyClass) -> String {
    var name = String(reflecting: type)
    while let start = name.range(of: "(unknown context at "),
      let end = name.range(of: ")", range: start.upperBound..<name.endIndex)
    {
      name.replaceSubrange(start.lowerBound..<end.upperBound, with: "(private)")
    }
    return name
  }
}

// MARK: - The index

extension TypeSearch {
  /// The classes of all images loaded at one moment.
  struct ClassIndex: Sendable {
    /// Bare name → addresses of accessors, one a class. Lives until an image is loaded or unloaded.
    private(set) var accessors: [String: [UInt]] = [:]
    /// What the index was made from.
    let generation: LoadedImages.Generation

    init(_ images: LoadedImages) {
      generation = images.generation
      var memory = images.memory
      // A section can be registered twice, by a library that was unloaded and loaded again to the same place.
      for section in Set(images.generation.sections).sorted(by: { $0.start < $1.start }) {
        for record in stride(from: section.start, to: section.end, by: 4) {
          guard let descriptor = memory.descriptor(record: record),
            let flags = memory.load(UInt32.self, at: descriptor),
            flags & Descriptor.kindMask == Descriptor.classKind, flags & Descriptor.isGeneric == 0,
            let accessor = memory.target(ofRelative: descriptor &+ Descriptor.accessor),
            memory.isExecutable(accessor),
            let nameAddress = memory.target(ofRelative: descriptor &+ Descriptor.name),
            let name = memory.string(at: nameAddress)
          else { continue }
          accessors[name, default: []].append(accessor)
        }
      }
    }

    /// The table "class descriptor" at the top of the file.
    private enum Descriptor {
      static let kindMask: UInt32 = 0x1f
      static let classKind: UInt32 = 16
      static let isGeneric: UInt32 = 0x80
      static let name: UInt = 8
      static let accessor: UInt = 12
    }
  }

  // MARK: - Loaded images

  /// The runtime's list of metadata sections and the dynamic linker's list of mapped memory.
  struct LoadedImages {
    /// The place of a `swift5_type_metadata`.
    struct Section: Hashable {
      let start: UInt
      let end: UInt
    }

    /// Equal as long as the same images are loaded. The sections are part of it because the linker counts a
    /// library before the library's initialiser registers its sections: a search on another thread may fall
    /// in between.
    struct Generation: Equatable {
      var loads: UInt64 = 0
      var unloads: UInt64 = 0
      var sections: [Section] = []
    }

    var generation = Generation()
    var memory = MappedMemory()

    /// Reads words 8 and 9 of a `MetadataSections`.
    mutating func add(sections: UInt) {
      guard let start = memory.load(UInt.self, at: sections &+ 8 * 8),
        let length = memory.load(UInt.self, at: sections &+ 9 * 8),
        memory.isReadable(start: start, length: length)
      else { return }
      generation.sections.append(Section(start: start, end: start + (length & ~3)))
    }
  }

  // MARK: - Memory

  /// Reads addresses that may be wrong: nil for what no loaded image has mapped.
  struct MappedMemory {
    struct Region {
      let start: UInt
      let end: UInt
      let isReadable: Bool
      let isExecutable: Bool

      func contains(_ address: UInt) -> Bool { start <= address && address < end }
    }

    /// By start address; they don't overlap.
    private(set) var regions: [Region]
    /// The region of the last read. Records, descriptors and names of an image mostly share one, which spares
    /// the search.
    private var last = Region(start: 0, end: 0, isReadable: false, isExecutable: false)

    init(_ regions: [Region] = []) { self.regions = regions.sorted { $0.start < $1.start } }

    private mutating func region(of address: UInt) -> Region? {
      if last.contains(address) { return last }
      var low = 0
      var high = regions.count
      while low < high {
        let middle = (low + high) / 2
        if regions[middle].end <= address { low = middle + 1 } else { high = middle }
      }
      guard low < regions.count, regions[low].contains(address) else { return nil }
      last = regions[low]
      return last
    }

    /// Whether the whole range lies in one readable region.
    mutating func isReadable(start: UInt, length: UInt) -> Bool {
      guard let region = region(of: start), region.isReadable else { return false }
      return length <= region.end - start
    }

    mutating func isExecutable(_ address: UInt) -> Bool {
      region(of: address)?.isExecutable ?? false
    }

    mutating func load<Value: FixedWidthInteger & BitwiseCopyable>(
      _: Value.Type, at address: UInt
    ) -> Value? {
      guard isReadable(start: address, length: UInt(MemoryLayout<Value>.size)),
        let pointer = UnsafeRawPointer(bitPattern: address)
      else { return nil }
      return pointer.loadUnaligned(as: Value.self)
    }

    /// The address that the relative pointer at `field` points to; nil for none.
    mutating func target(ofRelative field: UInt) -> UInt? {
      guard let offset = load(Int32.self, at: field), offset != 0 else { return nil }
      return field &+ UInt(bitPattern: Int(offset))
    }

    /// The address of the descriptor that a record of `swift5_type_metadata` stands for.
    mutating func descriptor(record: UInt) -> UInt? {
      guard let word = load(Int32.self, at: record), word != 0 else { return nil }
      let target = record &+ UInt(bitPattern: Int(word & ~3))
      switch word & 3 {
      case 0: return target
      case 1: return load(UInt.self, at: target)
      default: return nil
      }
    }

    /// The text up to the zero byte; nil if it is empty, not UTF-8, or runs out of its region.
    mutating func string(at address: UInt) -> String? {
      guard let region = region(of: address), region.isReadable,
        let pointer = UnsafeRawPointer(bitPattern: address),
        let end = memchr(pointer, 0, Int(region.end - address))
      else { return nil }
      let bytes = UnsafeRawBufferPointer(start: pointer, count: UnsafeRawPointer(end) - pointer)
      return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }
  }
}

// MARK: - The running process

#if (os(Linux) || os(Android)) && !(arch(arm) || arch(i386))

  extension TypeSearch {
    /// Whether a search can find anything on this platform.
    static let isSupported: Bool = true

    // The lock makes this safe between threads, so nothing here needs to be `@unchecked Sendable`; addresses
    // are kept as integers for the same reason.
    private static let cache = Guarded<ClassIndex?>(nil)

    private static func accessors(named bareName: String) -> [UInt] {
      // Asked before the lock is taken: the dynamic linker holds its own lock while it runs the initialisers
      // of a library, and one of those may be waiting for ours.
      let images = LoadedImages.now()
      return cache.withLock { cached in
        if let cached, cached.generation == images.generation { return cached.accessors[bareName] ?? [] }
        let made = ClassIndex(images)
        cached = made
        return made.accessors[bareName] ?? []
      }
    }
  }

  extension TypeSearch.LoadedImages {
    fileprivate static func now() -> Self {
      var images = Self()
      var registered: [UInt] = []
      withUnsafeMutablePointer(to: &registered) { context in
        enumerateMetadataSections(
          { sections, context in
            context.assumingMemoryBound(to: [UInt].self).pointee.append(UInt(bitPattern: sections))
            return true
          }, context)
      }
      var headers = ProgramHeaders()
      withUnsafeMutablePointer(to: &headers) { context in
        _ = iterateProgramHeaders(
          { info, size, context in
            context.assumingMemoryBound(to: ProgramHeaders.self).pointee.add(image: info, size: size)
            return 0
          }, context)
      }
      images.generation.loads = headers.loads
      images.generation.unloads = headers.unloads
      images.memory = TypeSearch.MappedMemory(headers.regions)
      // Read last: the structure lies in the image it describes; after `dlclose` its address leads nowhere.
      for sections in registered { images.add(sections: sections) }
      return images
    }
  }

  /// What the dynamic linker tells of the loaded images.
  private struct ProgramHeaders {
    var loads: UInt64 = 0
    var unloads: UInt64 = 0
    var regions: [TypeSearch.MappedMemory.Region] = []

    /// Reads a `struct dl_phdr_info` and its array of `Elf64_Phdr` (`man dl_iterate_phdr`, `man elf`):
    ///
    /// | info | meaning                        | header | meaning                                        |
    /// |------|--------------------------------|--------|------------------------------------------------|
    /// | 0    | 8: load address of the image   | 0      | 4: type, 1 for a part mapped into memory       |
    /// | 8    | 8: name                        | 4      | 4: flags, 1 executable, 2 writable, 4 readable |
    /// | 16   | 8: address of the headers      | 16     | 8: address, relative to the load address       |
    /// | 24   | 2: number of headers           | 40     | 8: size in memory                              |
    /// | 32   | 8: images loaded so far        |        | 56 bytes in all                                |
    /// | 40   | 8: images unloaded so far      |        |                                                |
    mutating func add(image info: UnsafeRawPointer, size: Int) {
      // Old C libraries end the structure before the counters; the sections alone tell a change then.
      if size >= 48 {
        loads = info.load(fromByteOffset: 32, as: UInt64.self)
        unloads = info.load(fromByteOffset: 40, as: UInt64.self)
      }
      let base = info.load(fromByteOffset: 0, as: UInt.self)
      let count = Int(info.load(fromByteOffset: 24, as: UInt16.self))
      guard let headers = info.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) else { return }
      for number in 0..<count {
        let header = headers + number * 56
        let flags = header.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
        guard header.loadUnaligned(as: UInt32.self) == 1 else { continue }
        let start = base &+ header.loadUnaligned(fromByteOffset: 16, as: UInt.self)
        let (end, overflow) = start.addingReportingOverflow(
          header.loadUnaligned(fromByteOffset: 40, as: UInt.self))
        if !overflow, end > start {
          regions.append(
            .init(start: start, end: end, isReadable: flags & 4 != 0, isExecutable: flags & 1 != 0))
        }
      }
    }
  }

  // Both are C functions that Swift's `Glibc` module doesn't declare. Arguments that are plain pointers
  // travel alike in both calling conventions. Linking by name, rather than `dlsym`, also works in
  // statically linked programs.

  /// Calls `body` with each registered `MetadataSections`, until it returns false.
  @_silgen_name("swift_enumerateAllMetadataSections")
  private func enumerateMetadataSections(
    _ body: @convention(c) (_ sections: UnsafeRawPointer, _ context: UnsafeMutableRawPointer) -> Bool,
    _ context: UnsafeMutableRawPointer)

  /// Calls `body` with a `struct dl_phdr_info`, and its size, of each loaded image, until it returns
  /// something else than 0.
  @_silgen_name("dl_iterate_phdr")
  private func iterateProgramHeaders(
    _ body:
      @convention(c) (
        _ info: UnsafeRawPointer, _ size: Int, _ context: UnsafeMutableRawPointer
      ) -> Int32,
    _ context: UnsafeMutableRawPointer
  ) -> Int32

#else

  extension TypeSearch {
    /// Whether a search can find anything on this platform.
    static let isSupported: Bool = false

    private static func accessors(named bareName: String) -> [UInt] { [] }
  }

#endif
