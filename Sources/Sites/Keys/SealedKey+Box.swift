#if Sites
import Crypto
import FoundationEssentials
import OtaflashFleet

/// The reason why the key of a device cannot be encrypted or decrypted.
package enum KeySealFault: Error, Hashable, Sendable {
  /// The site has no gateway that could decrypt the key.
  case noGateway(site: String)
  case tooManyGateways(site: String)
  /// The key was encrypted for another site.
  case otherSite(String)
  /// The key was encrypted before this gateway was added to the site, or for other gateways.
  case otherGateway
  /// The box was changed, or belongs to another run or device.
  case damaged
  /// The key has more bytes than any protocol supports.
  case tooLarge
}

/// The site, run and device for which a device key is encrypted. A box can be decrypted only with
/// the same values.
package struct SealedKeyPurpose: Hashable, Sendable {
  package let site: String
  package let run: String
  package let device: FleetDevice.ID

  package init(site: String, run: String, device: FleetDevice.ID) {
    self.site = site
    self.run = run
    self.device = device
  }

  /// The purpose as the parameter `info` of HPKE. Each text follows its length, so that different
  /// purposes have different values.
  var info: Data {
    var bytes = Array("otaflash device key 1".utf8)
    for text in [site, run, device] {
      let length = UInt32(text.utf8.count)
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + Array(text.utf8)
    }
    return Data(bytes)
  }
}

/// A box contains the device key once per gateway of the site, each copy encrypted with HPKE (RFC
/// 9180, base mode, X25519, HKDF-SHA256, ChaCha20-Poly1305). Each gateway therefore has a separate
/// private key, and a gateway that was revoked cannot decrypt later boxes.
///
/// Layout: the version 1, the number of parts, and the parts. Each part consists of the tag of the
/// gateway's public key (8 bytes), the encapsulated key (32 bytes), and the ciphertext with its
/// 16-byte authentication tag.
extension SealedKey {
  private static let version: UInt8 = 1
  private static let suite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
  private static let overhead = 8 + 32 + 16
  private static let keyMaximum = 1024
  /// The maximum number of gateways of a site.
  package static let gatewaysMaximum = 64

  /// Encrypts the key of a device for the gateways of a site.
  package init(
    _ key: [UInt8], for purpose: SealedKeyPurpose, gateways: [GatewayPublicKey]
  ) throws(KeySealFault) {
    guard !gateways.isEmpty else { throw .noGateway(site: purpose.site) }
    guard gateways.count <= Self.gatewaysMaximum else {
      throw .tooManyGateways(site: purpose.site)
    }
    guard key.count <= Self.keyMaximum else { throw .tooLarge }
    var box = [Self.version, UInt8(gateways.count)]
    do {
      for gateway in gateways {
        var sender = try HPKE.Sender(
          recipientKey: try gateway.agreementKey(), ciphersuite: Self.suite, info: purpose.info)
        box += gateway.tag + sender.encapsulatedKey + (try sender.seal(key))
      }
    } catch {
      // The public key is a point of low order.
      throw .damaged
    }
    self.init(site: purpose.site, box: box)
  }

  /// Decrypts the key of a device.
  package func open(
    for purpose: SealedKeyPurpose, with key: GatewayPrivateKey
  ) throws(KeySealFault) -> [UInt8] {
    guard site == purpose.site else { throw .otherSite(site) }
    guard box.count > 2, box[0] == Self.version, box[1] > 0,
      (box.count - 2).isMultiple(of: Int(box[1]))
    else { throw .damaged }
    let length = (box.count - 2) / Int(box[1])
    guard length >= Self.overhead, length <= Self.overhead + Self.keyMaximum else {
      throw .damaged
    }
    let tag = key.publicKey.tag
    let parts = (0..<Int(box[1])).map { box[(2 + $0 * length)..<(2 + ($0 + 1) * length)] }
    guard let part = parts.first(where: { $0.starts(with: tag) })?.dropFirst(tag.count) else {
      throw .otherGateway
    }
    do {
      var recipient = try HPKE.Recipient(
        privateKey: key.key, ciphersuite: Self.suite, info: purpose.info,
        encapsulatedKey: Data(part.prefix(32)))
      return Array(try recipient.open(Data(part.dropFirst(32))))
    } catch {
      throw .damaged
    }
  }
}

extension KeySealFault: CustomStringConvertible {
  /// The fault, as a clause that contains no part of a key.
  package var description: String {
    switch self {
    case .noGateway(let site):
      "site \(site) has no gateway; run 'otaflash-coordinator credentials issue' for the site"
    case .tooManyGateways(let site):
      "site \(site) has more than \(SealedKey.gatewaysMaximum) gateways"
    case .otherSite(let site): "the device key is for site \(site)"
    case .otherGateway:
      "the device key was encrypted for other gateways of the site; the next attempt includes "
        + "this gateway"
    case .damaged: "the device key was changed, or is for another run or device"
    case .tooLarge: "the device key is too large"
    }
  }
}
#endif
