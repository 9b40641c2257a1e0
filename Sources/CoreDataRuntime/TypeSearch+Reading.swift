import Foundation

extension TypeSearch {
  /// The classes of all images loaded at one moment.
  struct ClassIndex: Sendable {
    /// Bare name → addresses of accessors, one for each class. Valid until an image is loaded or unloaded.
    private(set) var accessors: [String: [UInt]] = [:]
    /// The loaded images from which the index was made.
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

  /// Reads addresses that may be wrong: nil for memory that no loaded image has mapped.
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
    /// The region of the last read. Records, descriptors and names of an image mostly share one, which saves
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

    /// The address of the descriptor of a record in `swift5_type_metadata`.
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
