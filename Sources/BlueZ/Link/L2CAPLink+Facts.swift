import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// The parameters of a link that an unprivileged process can read.
struct L2CAPFacts: Equatable, Sendable {
  /// The controller's connection handle, for raw HCI commands.
  let hciHandle: UInt16
  /// The PHY in each direction; `nil` if the kernel does not report the PHY.
  let transmitPHY: PHY?
  let receivePHY: PHY?
  /// The largest L2CAP payload in each direction, in bytes. This is not the ATT_MTU.
  let sendMTU: UInt16
  let receiveMTU: UInt16
}

extension PHY {
  /// Decodes the value of `BT_PHY`. If no LE bit is set, no PHY update has happened, so the link
  /// still uses its initial PHY, 1M.
  static func decode(_ mask: UInt32) -> (transmit: PHY, receive: PHY) {
    func phy(_ coded: Int32, _ two: Int32) -> PHY {
      if mask & UInt32(bitPattern: coded) != 0 { return .coded }
      return mask & UInt32(bitPattern: two) != 0 ? .le2M : .le1M
    }
    return (phy(BT_PHY_LE_CODED_TX, BT_PHY_LE_2M_TX), phy(BT_PHY_LE_CODED_RX, BT_PHY_LE_2M_RX))
  }
}

extension L2CAPLink {
  /// The parameters that the kernel reports, and the parameters that the controller reports if this
  /// process may receive the controller's events. After the link has ended, no parameter is known.
  public var facts: LinkFacts {
    do throws(LinkLoss) {
      let kernel = try kernelFacts()
      var facts = peer.flatMap { tuner?.facts(of: kernel.hciHandle, to: $0) } ?? LinkFacts()
      // Before the first update the kernel reports a link as 1M, and the controller reports
      // nothing.
      facts.phy = facts.phy ?? kernel.transmitPHY
      return facts
    } catch {
      return LinkFacts()
    }
  }

  /// Requests the parameters that the link lacks. If the link has ended, the function has no
  /// effect; the next operation on the link throws the loss.
  func tune(to device: BluetoothAddress) async {
    guard let tuner else { return }
    do throws(LinkLoss) {
      await tuner.tune(try kernelFacts().hciHandle, to: device)
    } catch {
      return
    }
  }

  /// Reads the link's parameters.
  /// - Throws: `.closedLocally`, or the error of a link that has ended.
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
      // Kernels before 5.7 do not support the socket option.
      guard error.number == ENOPROTOOPT else { throw error }
    }
    return L2CAPFacts(
      hciHandle: connection.hci_handle, transmitPHY: phys?.transmit, receivePHY: phys?.receive,
      sendMTU: options.omtu, receiveMTU: options.imtu)
  }
}
