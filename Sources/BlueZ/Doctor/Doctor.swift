import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT

/// One thing that must be right for flashing over Bluetooth, and how it stands.
public struct DoctorCheck: Equatable, Sendable {
  /// How a check ended: `warn` where something works less well than it could.
  public enum Verdict: String, Sendable {
    /// Nothing is to be done.
    case pass
    /// Flashing works, but less well than it could, or not in every way.
    case warn
    /// Flashing over Bluetooth does not work before this is mended.
    case fail
  }

  /// What was looked at, such as `kernel support`.
  public let check: String
  /// How the check ended.
  public let verdict: Verdict
  /// What was found, as a sentence.
  public let finding: String
  /// What to do about it; `nil` when there is nothing to do.
  public let remedy: Remedy?
}

/// Looks at everything on this machine that Bluetooth flashing depends on. Changes nothing.
public struct Doctor: Sendable {
  private let facts: DoctorFacts

  /// One who looks at this machine.
  public init() { facts = .machine }

  init(facts: DoctorFacts) { self.facts = facts }

  /// All checks, in the order in which they depend on each other.
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
      return [power, .fail("\(name) LE", "It has no Bluetooth LE.", .chooseAnotherAdapter)]
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
        .advice("See the switches with `rfkill list`."))
    }
    if switches.contains(where: \.isHardBlocked) {
      return .fail(
        "rfkill", "A switch on the machine blocks Bluetooth.", .flipSwitch)
    }
    if switches.contains(where: \.isSoftBlocked) {
      return .fail("rfkill", "Bluetooth is blocked.", .unblockAdapter)
    }
    return .pass("rfkill", "Nothing blocks Bluetooth.")
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
      "\(missing.joined(separator: " and ")) missing: flashing by address works, scanning and link "
        + "tuning do not.", .grantCapabilities)
  }

  private func daemon() -> DoctorCheck {
    guard facts.isDaemonRunning() else {
      return .pass("bluetoothd", "It does not run, so nothing competes for the devices.")
    }
    return .pass(
      "bluetoothd",
      "It runs beside this program. A device that it holds is busy: "
        + "`bluetoothctl disconnect ADDRESS`."
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
