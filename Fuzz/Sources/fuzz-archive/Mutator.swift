import CLibFuzzer
import Foundation
import FuzzTargets

/// libFuzzer calls this in place of its own mutations. Half of the calls use those nevertheless.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ capacity: Int, _ seed: UInt32) -> Int {
  if seed % 2 == 0,
    let changed = ArchiveTarget.mutate(UnsafeBufferPointer(start: data, count: size), seed: seed),
    changed.count <= capacity
  {
    changed.copyBytes(to: data, count: changed.count)
    return changed.count
  }
  return LLVMFuzzerMutate(data, size, capacity)
}
