/// In place of swift-crypto, which would have to be built with the sanitizers as well: no decoder looks
/// at a hash, so all hashes may be the same.
private let hash = [UInt8](repeating: 0, count: 32)

public struct SHA256 {
  public static func hash(data: some Sequence<UInt8>) -> [UInt8] { Crypto.hash }
}

public struct SymmetricKey {
  public init(data: some Sequence<UInt8>) {}
}

public enum HMAC<Hash> {
  public static func authenticationCode(
    for data: some Sequence<UInt8>, using key: SymmetricKey
  ) -> [UInt8] { Crypto.hash }
}
