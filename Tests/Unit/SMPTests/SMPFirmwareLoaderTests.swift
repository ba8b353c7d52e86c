import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashWire
import Synchronization
import Testing

@testable import OtaflashUpdate

/// Tests of updates of simulated devices with Nordic's single-slot firmware loader.
@Suite struct SMPFirmwareLoaderTests {
  static let settings = "smp?mode=firmware-loader&slot=64K"

  struct Ending {
    let outcome: Result<UpdateResult, UpdateFault>
    /// The connections and SMP requests, without repetitions.
    let steps: [String]
    let running: [UInt8]
    let reports: [DeviceReport]
  }

  /// The steps of a host, in order.
  private final class Recorder: Sendable {
    private let steps = Mutex<[String]>([])
    /// The remaining bytes of the request whose first fragment was written last.
    private let rest = Mutex(0)

    var all: [String] { steps.withLock { $0 } }

    func note(_ step: String) { steps.withLock { if $0.last != step { $0.append(step) } } }

    func sent(_ pdu: [UInt8]) {
      guard pdu.first == ATTOpcode.writeCommand.rawValue else { return }
      let value = Array(pdu.dropFirst(3))
      let isBeginning = rest.withLock { rest in
        guard rest == 0 else {
          rest = max(0, rest - value.count)
          return false
        }
        rest = max(0, 8 + (Int(value[2]) << 8 | Int(value[3])) - value.count)
        return true
      }
      guard isBeginning else { return }
      switch (value[5], value[7], value[0] & 7) {
      case (0, 5, 2):
        note("reset" + (Self.text(value).contains("boot_mode\u{1}") ? " to loader" : ""))
      case (0, 8, _): note(Self.text(value).contains("equerydmode") ? "mode?" : "bootloader?")
      case (1, 0, 0): note("state?")
      case (1, 1, 2): note("upload")
      case (3, 0, 2): note("set \(Self.text(value).contains("fw_loader/adv_name"))")
      case (3, 3, 2): note("save")
      case (_, _, 0), (0, 0, 2): break
      default: note("other")
      }
    }

    func lost() { rest.withLock { $0 = 0 } }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
  }

  private static func name(of place: DeviceLocation) -> String {
    switch place {
    case .home, .homeOrNewAddress: "home"
    case .flippedAddress: "address XOR 1"
    case .advertising: "name"
    case .nextAddress, .previousAddress: "another"
    }
  }

  /// - Parameter isAway: whether the device is out of range, so that the board represents another
  ///   device at the loader's address.
  static func flash(
    _ images: FirmwareImage..., onto settings: String, isAway: Bool = false
  ) throws -> Ending {
    let timeline = VirtualTimeline()
    let profile = try SimulationProfile(parsing: settings)
    let board = try SimulatedBoard(profile: profile, storage: nil, clock: timeline.clock)
    let recorder = Recorder()
    let reports = Mutex<[DeviceReport]>([])
    let package = FirmwarePackage(name: "dfu.zip", kind: .deviceManager, parts: images)
    let outcome = try timeline.run(limit: .seconds(7_200)) {
      clock -> Result<UpdateResult, UpdateFault> in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await board.run() }
        let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
          if isAway, place != .flippedAddress {
            throw .deviceNotFound(cause: "It is away.", remedy: .comeCloser)
          }
          let link = try await board.dial(at: isAway ? .home : place)
          recorder.lost()
          recorder.note("connect \(name(of: place))")
          return TracingLink(link, clock: clock) { crossing in
            if crossing.direction == .sent { recorder.sent(crossing.pdu) }
          }
        })
        defer { group.cancelAll() }
        do throws(UpdateFault) {
          let update = FirmwareUpdate(package: package, options: UpdateOptions()) { event in
            if case .device(let report) = event { reports.withLock { $0.append(report) } }
          }
          return .success(try await update.run(on: dialer, clock: clock))
        } catch {
          return .failure(error)
        }
      }
    }
    return Ending(
      outcome: outcome, steps: recorder.all, running: try board.runningImage(),
      reports: reports.withLock { $0 })
  }

  static func image() throws -> FirmwareImage {
    try bootable(MCUbootVersion(2, 0, 0), size: 40_000, seed: 1)
  }

  /// The order that bare metal requires: the name is set and saved before the restart, and no data
  /// is uploaded before the loader has reported its mode.
  @Test func theLoaderIsNamedFoundIdentifiedAndUsed() throws {
    let image = try Self.image()
    let ending = try Self.flash(image, onto: Self.settings)
    #expect(try ending.outcome.get().proof == .readBack)
    #expect(ending.running == image.bytes)
    #expect(
      ending.steps == [
        "connect home", "state?", "mode?", "set true", "save", "reset to loader",
        "connect address XOR 1", "state?", "mode?", "upload", "state?", "reset",
        "connect home", "state?", "mode?", "state?",
      ])
    #expect(ending.reports.map(\.isInBootloader).contains(true))
  }

  @Test(arguments: [
    ("&settings=no", "connect address XOR 1"), ("&loader-address=same", "connect name"),
    ("&loader-address=same&settings=no", "connect home"),
  ])
  func theLoaderIsFoundWhereverItAdvertises(_ more: String, _ connection: String) throws {
    let image = try Self.image()
    let ending = try Self.flash(image, onto: Self.settings + more)
    #expect(try ending.outcome.get().proof == .readBack)
    #expect(ending.running == image.bytes)
    let connections = ending.steps.filter { $0.hasPrefix("connect") }
    #expect(connections == ["connect home", connection, "connect home"])
    #expect(ending.steps.contains("save") == !more.contains("settings=no"))
  }

  @Test(
    "a device at the loader's address that is not a loader is left unchanged",
    arguments: ["smp?slot=64K", "smp?slot=64K&bootinfo=no", "smp?mode=firmware-loader&slot=64K"])
  func anotherDevice(_ settings: String) throws {
    let ending = try Self.flash(try Self.image(), onto: settings, isAway: true)
    guard case .failure(.couldNotConnect(.deviceNotFound)) = ending.outcome else {
      Issue.record("\(ending.outcome)")
      return
    }
    #expect(Set(ending.steps).isSubset(of: ["connect address XOR 1", "state?", "mode?"]))
  }

  @Test(
    "if the link is lost at any PDU, the image still runs at the end",
    arguments: Array(stride(from: 2, through: 200, by: 9)))
  func cut(pdu: Int) throws {
    let image = try Self.image()
    let ending = try Self.flash(
      image, onto: Self.settings + "&cut-at-pdu=\(pdu)&netbufs=4x384")
    #expect(try ending.outcome.get().proof == .readBack)
    #expect(ending.running == image.bytes)
  }

  @Test func namesHaveFifteenBytesAtMost() {
    #expect(SMPFirmwareLoader.Name("fifteen bytes !") != nil)
    #expect(SMPFirmwareLoader.Name("sixteen bytes !!") == nil)
    #expect(SMPFirmwareLoader.Name("seven äöü §") != nil)
    #expect(SMPFirmwareLoader.Name("") == nil)
    #expect(SMPFirmwareLoader.Name(drawnFrom: 0).text == "OTA00000000")
    #expect(SMPFirmwareLoader.Name(drawnFrom: 0.999_999_999_9).text == "OTAFFFFFFFF")
  }
}
