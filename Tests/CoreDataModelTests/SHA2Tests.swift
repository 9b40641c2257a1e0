import Foundation
import Testing

@testable import CoreDataModel

/// The example messages of NIST's "Secure Hash Standard" documents, and lengths around the block boundaries.
struct SHA2Tests {
  struct Vector: Sendable {
    var message: String
    var repeated = 1
    var sha256: String
    var sha512: String
  }

  static let vectors = [
    Vector(
      message: "", sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      sha512:
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f"
        + "63b931bd47417a81a538327af927da3e"),
    Vector(
      message: "abc", sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      sha512:
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
        + "454d4423643ce80e2a9ac94fa54ca49f"),
    Vector(
      message: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      sha256: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      sha512:
        "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c33596fd15c13b1b07f9aa1d3bea57789ca0"
        + "31ad85c7a71dd70354ec631238ca3445"),
    Vector(
      message:
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      sha256: "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
      sha512:
        "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433a"
        + "c7d329eeb6dd26545e96e55b874be909"),
    Vector(
      message: "a", repeated: 1_000_000,
      sha256: "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
      sha512:
        "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973ebde0ff244877ea60a4cb0432ce577c31b"
        + "eb009c5c2c49aa2e4eadb217ad8cc09b"),
  ]

  @Test(arguments: vectors) func `NIST's messages give NIST's digests`(vector: Vector) {
    let message = [UInt8](String(repeating: vector.message, count: vector.repeated).utf8)
    #expect(hex(SHA2.sha256(message)) == vector.sha256)
    #expect(hex(SHA2.sha512(message)) == vector.sha512)
  }

  @Test func `every length around the block sizes gives the digest of an independent implementation`() {
    // Digests of the digests of "a" × 0 … 300, computed with another program.
    var all256: [UInt8] = []
    var all512: [UInt8] = []
    for count in 0...300 {
      let message = [UInt8](repeating: 0x61, count: count)
      all256 += SHA2.sha256(message)
      all512 += SHA2.sha512(message)
    }
    #expect(hex(SHA2.sha256(all256)) == "e8e4a8cfe049153f6f930f2156161a5b19bb9b3dc4b698c20e4d44a29d7f9526")
    #expect(
      hex(SHA2.sha512(all512))
        == "b0252e29bae50b5a42c84d684a695d3ce9eb9f45564b98f09503ce01bcdc907c14d2fad620cea072"
        + "e46915da1321a945dee073b717b9c105a6a57beb402eddc5")
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
