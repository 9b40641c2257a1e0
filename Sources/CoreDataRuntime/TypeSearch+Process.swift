import Foundation

// The data of the runtime and the dynamic linker about the running process.

#if (os(Linux) || os(Android)) && !(arch(arm) || arch(i386))

  extension TypeSearch {
    // Addresses are kept as integers, so that nothing here needs to be `@unchecked Sendable`. `lock` guards
    // `index`. It is an `NSLock`, which ThreadSanitizer supports, unlike `Synchronization.Mutex`.
    private static let lock = NSLock()
    nonisolated(unsafe) private static var index: ClassIndex?

    static func accessors(named bareName: String) -> [UInt] {
      // Read before the lock is taken: the dynamic linker holds its own lock while it runs the initialisers
      // of a library, and one of those may be waiting for ours.
      let images = LoadedImages.now()
      return lock.withLock {
        if let index, index.generation == images.generation { return index.accessors[bareName] ?? [] }
        let made = ClassIndex(images)
        index = made
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
      // Read last: the structure is in the image it describes; after `dlclose` its address is invalid.
      for sections in registered { images.add(sections: sections) }
      return images
    }
  }

  /// The dynamic linker's data about the loaded images.
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
      // Old C libraries end the structure before the counters; then only the sections show a change.
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

  // Both are C functions that Swift's `Glibc` module doesn't declare. Arguments that are plain pointers are
  // passed alike in both calling conventions. Linking by name, rather than `dlsym`, also works in statically
  // linked programs.

  /// Calls `body` with each registered `MetadataSections`, until it returns false.
  @_silgen_name("swift_enumerateAllMetadataSections")
  private func enumerateMetadataSections(
    _ body: @convention(c) (_ sections: UnsafeRawPointer, _ context: UnsafeMutableRawPointer) -> Bool,
    _ context: UnsafeMutableRawPointer)

  /// Calls `body` with a `struct dl_phdr_info`, and its size, of each loaded image, until it returns a value
  /// other than 0.
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
    static func accessors(named bareName: String) -> [UInt] { [] }
  }

#endif
