import CLibFuzzer
import Foundation
import FuzzTargets

var count: Int32 = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
  LLVMFuzzerRunDriver(&count, &arguments) { data, size in
    TextTarget.run(UnsafeBufferPointer(start: data, count: size))
    return 0
  })
