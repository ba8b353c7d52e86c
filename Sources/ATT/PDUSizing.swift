/// Chooses how large the PDUs of a stream of Write Commands should be, so that they fill link-layer
/// packets: a PDU just over a packet's end pays for a whole further exchange of packets to carry a
/// few octets. With 251-octet packets, PDUs of 517 octets are slower than PDUs of 247.
///
/// The cost of a PDU is its time on air (Core 5.4, Vol 6, Part B, 2.1 and 4.1): for each packet
/// its octets, two spaces of 150 µs, and the empty packet that acknowledges it.
package struct PDUSizing: Sendable {
  /// Octets of an L2CAP header (Vol 3, Part A, 3.1).
  private static let l2capHeaderSize = 4
  /// Octets of opcode and handle, which carry none of the image.
  private static let writeHeaderSize = 3

  private let payload: Int
  private let phy: PHY
  private let isEncrypted: Bool

  /// - Parameters:
  ///   - linkLayerPayload: octets that a data packet carries, 27…251: 251 with Data Length
  ///     Extension, 27 without.
  ///   - phy: shifts the balance between octets and packets.
  ///   - isEncrypted: four octets of each packet are its integrity check.
  package init(linkLayerPayload: Int = 251, phy: PHY = .le1M, isEncrypted: Bool = false) {
    precondition((27...251).contains(linkLayerPayload), "a packet carries 27...251 octets")
    payload = linkLayerPayload
    self.phy = phy
    self.isEncrypted = isEncrypted
  }

  /// The size of a Write Command, in octets, that carries the most value octets per time on air.
  ///
  /// Only two sizes can win: the largest that fills its packets (n + 4 is a multiple of the
  /// payload), and `mtu` itself, whose last packet is part full. Within the same number of packets
  /// more octets are always better, since each packet costs its fixed share once. Equal rates take
  /// the smaller PDU: it needs less memory on the device.
  package func bestSize(mtu: ATTMTU) -> Int {
    let packets = (mtu.octets + Self.l2capHeaderSize) / payload
    let full = packets * payload - Self.l2capHeaderSize
    guard full > Self.writeHeaderSize else { return mtu.octets }
    // full/airTime(full) >= whole/airTime(whole), without dividing.
    let fullIsFaster =
      valueSize(full) * airTimeMicroseconds(size: mtu.octets)
      >= valueSize(mtu.octets) * airTimeMicroseconds(size: full)
    return fullIsFaster ? full : mtu.octets
  }

  /// Time on air of one PDU of `size` octets in an uninterrupted stream, with acknowledgements.
  package func airTimeMicroseconds(size: Int) -> Int {
    let octets = size + Self.l2capHeaderSize
    let (packets, rest) = octets.quotientAndRemainder(dividingBy: payload)
    let whole = packets * exchangeMicroseconds(octets: payload)
    return rest == 0 ? whole : whole + exchangeMicroseconds(octets: rest)
  }

  /// One data packet and the empty packet that answers it, each followed by a space.
  private func exchangeMicroseconds(octets: Int) -> Int {
    phy.airTimeMicroseconds(payload: octets, encrypted: isEncrypted)
      + phy.airTimeMicroseconds(payload: 0, encrypted: isEncrypted)
      + 2 * PHY.interframeSpaceMicroseconds
  }

  private func valueSize(_ size: Int) -> Int { size - Self.writeHeaderSize }
}
