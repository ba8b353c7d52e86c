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
    ("OTA service", UpdateTrial(profile: "sim:?\(cut)", wanted: .proof(.readBack, resumes: true))),
    ("SMP", UpdateTrial(profile: "sim:smp?\(cut)", wanted: .proof(.readBack, resumes: true))),
    (
      "Secure DFU",
      UpdateTrial(profile: "sim:nordic-dfu?\(cut)", wanted: .proof(.version, resumes: true))
    ),
    (
      "legacy DFU",
      UpdateTrial(profile: "sim:nordic-legacy?\(lateCut)", wanted: .proof(.version, resumes: false))
    ),
    (
      "InfiniTime",
      UpdateTrial(profile: "sim:infinitime?\(lateCut)", wanted: .proof(.version, resumes: false))
    ),
    (
      "Espressif",
      UpdateTrial(profile: "sim:esp-nimble?\(cut)", wanted: .proof(.restarted, resumes: false))
    ),
    (
      "Silicon Labs",
      UpdateTrial(profile: "sim:silabs?\(cut)", wanted: .proof(.version, resumes: false))
    ),
    (
      "Telink",
      UpdateTrial(profile: "sim:telink-legacy?\(lateCut)", wanted: .proof(.version, resumes: false))
    ),
    (
      "SUOTA",
      UpdateTrial(profile: "sim:suota?\(cut)", wanted: .proof(.version, resumes: false))
    ),
    (
      "TI OAD",
      UpdateTrial(profile: "sim:ti-oad?\(cut)", wanted: .proof(.version, resumes: false))
    ),
    (
      "micro:bit",
      UpdateTrial(profile: "sim:microbit?\(cut)", wanted: .proof(.readBack, resumes: false))
    ),
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
