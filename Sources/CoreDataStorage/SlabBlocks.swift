#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Bionic)
  import Bionic
#else
  import Darwin
#endif

/// Memory for the slabs of large results: blocks of one size, used again when their slab is freed.
///
/// A result of many rows would otherwise ask the kernel for its memory page by page and give it back
/// afterwards, each time; with 200,000 rows that is half of a fetch's time. The first freed blocks stay as
/// they are. Those above are offered to the kernel, which may take their pages if it is short of memory; so
/// what is kept costs a program nothing that it could miss.
enum SlabBlocks {
  /// Bytes of a block.
  static let size: Int = RowSlab.targetSizeInBytes
  /// How many free blocks keep their pages: 4 MiB.
  private static let mostWarm: Int = 16
  /// How many free blocks there may be: 64 MiB.
  private static let most: Int = 256

  private struct Blocks: @unchecked Sendable {
    // Sendable: nobody else has the addresses of free blocks.
    var free: [UnsafeMutableRawPointer] = []
  }

  private static let blocks = Guarded(Blocks())

  /// A block, whose contents are arbitrary.
  static func take() -> UnsafeMutableRawPointer {
    if let known = blocks.withLock({ $0.free.popLast() }) { return known }
    var memory: UnsafeMutableRawPointer?
    // Whole pages, so that they can be offered to the kernel.
    guard posix_memalign(&memory, pageSize, size) == 0, let memory else {
      fatalError("There is no memory for \(size) bytes of rows.")
    }
    return memory
  }

  /// Takes a block back.
  static func give(_ block: UnsafeMutableRawPointer) {
    let count: Int = blocks.withLock { $0.free.count }
    if count >= most { return free(block) }
    #if canImport(Glibc) || canImport(Musl) || canImport(Bionic)
      // Before the block is listed: the next one that takes it writes to it.
      if count >= mostWarm { madvise(block, size, MADV_FREE) }
    #endif
    blocks.withLock { $0.free.append(block) }
  }

  private static let pageSize: Int = 4096
}
