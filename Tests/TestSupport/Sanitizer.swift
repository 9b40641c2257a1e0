#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether this process runs under ThreadSanitizer, which has an allocator of its own and
/// larger stack frames.
public enum Sanitizer {
  public static let isOn: Bool = {
    #if canImport(Glibc) || canImport(Darwin)
      return dlsym(nil, "__tsan_init") != nil
    #else
      return false
    #endif
  }()
}
