import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// A check of one prerequisite for flashing over Bluetooth.
public struct DoctorCheck: Equatable, Sendable {
  /// The result of a check.
  public enum Verdict: String, Sendable {
    /// No action is needed.
    case pass
    /// Flashing works with limitations.
    case warn
    /// Flashing over Bluetooth, or with the adapter that was checked, does not work until the
    /// problem is fixed.
    case fail
  }

  /// The subject of the check, such as `kernel support`.
  public let check: String
  /// The result of the check.
  public let verdict: Verdict
  /// The finding, as a sentence.
  public let finding: String
  /// The correction; `nil` if no correction is needed.
  public let remedy: Remedy?
}

/// Checks all prerequisites for flashing over Bluetooth on this host. Changes nothing.
public struct Doctor: Sendable {
  private let facts: DoctorFacts

  /// Creates the checks for this host.
  public init() { facts = .machine }

  init(facts: DoctorFacts) { self.facts = facts }

  /// Runs the checks in the order of their dependencies. Without kernel support, the adapters are
  /// not checked.
  public func examine() async -> [DoctorCheck] {
    let kernel = kernelSupport()
    let further = kernel.verdict == .pass ? await adapters() : []
    return [kernel] + further + [rfkill(), capabilities(), daemon()]
  }

  private func kernelSupport() -> DoctorCheck {
    let number = facts.socketError()
    guard number != 0 else {
      return .pass("kernel support", "The kernel has Bluetooth with L2CAP sockets.")
    }
    let fault = ConnectFault(l2capError: number, at: .socket, device: "")
    return .fail("kernel support", fault.explanation, fault.remedy ?? .examineSystem)
  }

  private func adapters() async -> [DoctorCheck] {
    do throws(MgmtFault) {
      let session = try facts.openSession()
      defer { session.close() }
      let indexes = try MgmtIndexList.decode(await session.perform(.readIndexList))
      guard !indexes.isEmpty else {
        return [.fail("adapters", "There is no Bluetooth adapter.", .plugInAdapter)]
      }
      var checks: [DoctorCheck] = []
      for index in indexes {
        let bytes = try await session.perform(.readControllerInformation, index: index)
        checks += Self.adapter(index, try MgmtIndexList.information(bytes))
      }
      return checks
    } catch {
      return [
        .fail(
          "adapters", "The adapters cannot be read: \(error.summary). \(error.explanation)",
          error.remedy ?? .chooseAnotherAdapter)
      ]
    }
  }

  static func adapter(_ index: UInt16, _ information: ControllerInformation) -> [DoctorCheck] {
    let name = "adapter hci\(index)"
    let isOn = information.current.contains(.powered)
    let power: DoctorCheck =
      isOn
      ? .pass(name, "hci\(index) (\(information.address)) is on.")
      : .fail(
        name, "hci\(index) (\(information.address)) is off.",
        .turnAdapterOn(adapter: "hci\(index)"))
    guard information.supported.contains(.lowEnergy) else {
      return [power, .fail("\(name) LE", "Bluetooth LE is not supported.", .chooseAnotherAdapter)]
    }
    guard information.current.contains(.lowEnergy) else {
      return [
        power,
        .fail("\(name) LE", "Bluetooth LE is off.", .turnLowEnergyOn(adapter: "hci\(index)")),
      ]
    }
    return [power, .pass("\(name) LE", "Bluetooth LE is on.")]
  }

  private func rfkill() -> DoctorCheck {
    guard let switches = facts.switches() else {
      return .warn(
        "rfkill", "/dev/rfkill cannot be read.",
        .advice("List the switches with `rfkill list`."))
    }
    if switches.contains(where: \.isHardBlocked) {
      return .fail(
        "rfkill", "A hardware switch blocks Bluetooth.", .flipSwitch)
    }
    if switches.contains(where: \.isSoftBlocked) {
      return .fail("rfkill", "Bluetooth is blocked.", .unblockAdapter)
    }
    return .pass("rfkill", "Bluetooth is not blocked.")
  }

  private func capabilities() -> DoctorCheck {
    guard let held = facts.capabilities() else {
      return .warn("capabilities", "/proc/self/status cannot be read.", .advice("Mount /proc."))
    }
    let missing = [held.hasNetAdmin ? nil : "CAP_NET_ADMIN", held.hasNetRaw ? nil : "CAP_NET_RAW"]
      .compactMap(\.self)
    guard !missing.isEmpty else {
      return .pass("capabilities", "Scanning and link tuning are permitted.")
    }
    return .warn(
      "capabilities",
      "\(missing.joined(separator: " and ")) missing: flashing by address works, but scanning and "
        + "link tuning do not.", .grantCapabilities)
  }

  private func daemon() -> DoctorCheck {
    guard facts.isDaemonRunning() else {
      return .pass("bluetoothd", "bluetoothd is not running, so it does not use any device.")
    }
    return .pass(
      "bluetoothd",
      "bluetoothd is running. A device to which bluetoothd is connected is busy; to "
        + "disconnect, run `bluetoothctl disconnect ADDRESS`."
    )
  }
}

extension DoctorCheck {
  static func pass(_ check: String, _ finding: String) -> Self {
    Self(check: check, verdict: .pass, finding: finding, remedy: nil)
  }
  static func warn(_ check: String, _ finding: String, _ remedy: Remedy) -> Self {
    Self(check: check, verdict: .warn, finding: finding, remedy: remedy)
  }
  static func fail(_ check: String, _ finding: String, _ remedy: Remedy) -> Self {
    Self(check: check, verdict: .fail, finding: finding, remedy: remedy)
  }
}
