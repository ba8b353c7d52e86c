import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// What the kernel tells an unprivileged process about a link.
struct L2CAPFacts: Equatable, Sendable {
  /// The controller's number for the connection, as raw HCI commands want it.
  let hciHandle: UInt16
  /// `nil` where the kernel does not tell.
  let transmitPHY: PHY?
  let receivePHY: PHY?
  /// The largest L2CAP payload in each direction, in bytes; not the ATT_MTU.
  let sendMTU: UInt16
  let receiveMTU: UInt16
}

extension PHY {
  /// Reads `BT_PHY`. No LE bit set means that no PHY update has happened: the link started on 1M.
  static func decode(_ mask: UInt32) -> (transmit: PHY, receive: PHY) {
    func phy(_ coded: Int32, _ two: Int32) -> PHY {
      if mask & UInt32(bitPattern: coded) != 0 { return .coded }
      return mask & UInt32(bitPattern: two) != 0 ? .le2M : .le1M
    }
    return (phy(BT_PHY_LE_CODED_TX, BT_PHY_LE_2M_TX), phy(BT_PHY_LE_CODED_RX, BT_PHY_LE_2M_RX))
  }
}

extension L2CAPLink {
  /// What the kernel tells everybody, and the controller those who may listen. Once the link is
  /// gone, nothing.
  public var facts: LinkFacts {
    do throws(LinkLoss) {
      let kernel = try kernelFacts()
      var facts = peer.flatMap { tuner?.facts(of: kernel.hciHandle, to: $0) } ?? LinkFacts()
      // Until a first update the kernel counts a link as 1M, and the controller says nothing.
      facts.phy = facts.phy ?? kernel.transmitPHY
      return facts
    } catch {
      return LinkFacts()
    }
  }

  /// Asks for what the link does not have yet. One that is gone already says so when it is used.
  func tune(to device: BluetoothAddress) async {
    guard let tuner else { return }
    do throws(LinkLoss) {
      await tuner.tune(try kernelFacts().hciHandle, to: device)
    } catch {
      return
    }
  }

  /// Reads the link's facts.
  /// - Throws: `.closedLocally`, or the error of a link that is gone.
  func kernelFacts() throws(LinkLoss) -> L2CAPFacts {
    let result = socket.withDescriptor { raw -> Result<L2CAPFacts, SystemError> in
      Result { () throws(SystemError) in try Self.facts(of: raw) }
    }
    switch result {
    case .success(let facts): return facts
    case .failure(let error): throw LinkLoss(socketError: error.number)
    case nil: throw .closedLocally
    }
  }

  private static func facts(of raw: Int32) throws(SystemError) -> L2CAPFacts {
    var connection = l2cap_conninfo()
    try SocketOption.get(raw, SOL_L2CAP, L2CAP_CONNINFO, into: &connection)
    var options = l2cap_options()
    try SocketOption.get(raw, SOL_L2CAP, L2CAP_OPTIONS, into: &options)
    var mask: UInt32 = 0
    var phys: (transmit: PHY, receive: PHY)?
    do throws(SystemError) {
      try SocketOption.get(raw, SOL_BLUETOOTH, BT_PHY, into: &mask)
      phys = PHY.decode(mask)
    } catch {
      // Kernels before 5.7 do not know the option.
      guard error.number == ENOPROTOOPT else { throw error }
    }
    return L2CAPFacts(
      hciHandle: connection.hci_handle, transmitPHY: phys?.transmit, receivePHY: phys?.receive,
      sendMTU: options.omtu, receiveMTU: options.imtu)
  }
}
