import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// A test of the complete chain without a device. It covers updates with each protocol with a lost
/// link, up to the verification. It also covers a patch, required refusals, a damaged image, a
/// socket, and the state files.
package enum SelfTest {
  package static func checks(environment: [String: String]) -> [SelfTestCheck] {
    let host = SelfTestHost(environment: environment)
    return updates.map { name, trial in
      SelfTestCheck(name) { () throws(SelfTestCheck.Failure) in try trial.perform() }
    } + [
      SelfTestCheck("damaged image") { () throws(SelfTestCheck.Failure) in try damagedImage() },
      SelfTestCheck("socket") { () async throws(SelfTestCheck.Failure) in
        try await host.socket()
      },
      SelfTestCheck("state") { () throws(SelfTestCheck.Failure) in try host.state() },
    ]
  }

  private static let key = [UInt8](repeating: 0x5A, count: 32)
  /// The fault that cuts the link in the middle of the transfer.
  private static let cut = "cut-at-pdu=120"
  /// The fault that cuts the link in the middle of a transfer whose packets have 20 bytes.
  private static let lateCut = "cut-at-pdu=1500"

  package static let updates: [(name: String, trial: UpdateTrial)] = [
    ("OTA service", interrupted("sim:?\(cut)", .readBack, resumes: true)),
    ("SMP", interrupted("sim:smp?\(cut)", .readBack, resumes: true)),
    ("Secure DFU", interrupted("sim:nordic-dfu?\(cut)", .version, resumes: true)),
    ("legacy DFU", interrupted("sim:nordic-legacy?\(lateCut)", .version)),
    ("InfiniTime", interrupted("sim:infinitime?\(lateCut)", .version)),
    ("Espressif", interrupted("sim:esp-nimble?\(cut)", .restarted, resumes: true)),
    ("Silicon Labs", interrupted("sim:silabs?\(cut)", .version)),
    ("Telink", interrupted("sim:telink-legacy?\(lateCut)", .version)),
    ("SUOTA", interrupted("sim:suota?\(cut)", .version)),
    ("TI OAD", interrupted("sim:ti-oad?\(cut)", .version)),
    ("micro:bit", interrupted("sim:microbit?\(cut)", .readBack)),
    (
      "patch",
      UpdateTrial(
        profile: "sim:",
        image: { try SelfTestImage.of($0, version: FirmwareVersion(1, 3, 1), change: 1) },
        former: { try SelfTestImage.of($0) }, wanted: .patch)
    ),
    (
      "wrong board",
      UpdateTrial(
        profile: "sim:", image: { try SelfTestImage.of($0, hardware: HardwareID(0xB002)) },
        wanted: .fault(writes: false) {
          if case .wrongHardware = $0 { true } else { false }
        })
    ),
    (
      "older version",
      UpdateTrial(
        profile: "sim:", image: { try SelfTestImage.of($0, version: FirmwareVersion(1, 1, 0)) },
        wanted: .fault(writes: false) { if case .downgrade = $0 { true } else { false } })
    ),
    (
      "wrong key",
      UpdateTrial(
        profile: "sim:?key=\(String(repeating: "a5", count: 32))", options: options(key: key),
        wanted: .fault(writes: false) { $0 == .wrongKey })
    ),
    (
      "reverted image",
      UpdateTrial(
        profile: "sim:?reverts",
        wanted: .fault(writes: true) { if case .reverted = $0 { true } else { false } })
    ),
  ]

  /// An update whose link is lost once.
  ///
  /// - Parameter resumes: whether the transfer must resume; otherwise it may start over.
  private static func interrupted(
    _ profile: String, _ proof: UpdateResult.Proof, resumes: Bool = false
  ) -> UpdateTrial {
    UpdateTrial(profile: profile, wanted: .proof(proof, resumes: resumes))
  }

  private static func options(key: [UInt8]) -> UpdateOptions {
    var options = UpdateOptions()
    options.key = key
    return options
  }

  /// Checks that the integrity check detects a changed byte, before a device is needed.
  private static func damagedImage() throws(SelfTestCheck.Failure) -> String {
    do {
      let whole = try SelfTestImage.of(.smpServer(SMPServerSettings()))
      var bytes = whole.bytes
      bytes[bytes.count / 2] ^= 1
      let damaged = try FirmwareImage.decode(name: whole.name, bytes: bytes)
      _ = try whole.checkIntegrity()
      return try refusal(of: damaged)
    } catch {
      throw SelfTestCheck.Failure(of: error)
    }
  }

  private static func refusal(of image: FirmwareImage) throws(SelfTestCheck.Failure) -> String {
    do throws(ProofFault) {
      _ = try image.checkIntegrity()
    } catch {
      return "\(error)"
    }
    throw SelfTestCheck.Failure("one changed byte was not detected")
  }
}
