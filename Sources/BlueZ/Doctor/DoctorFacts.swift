import COtaflashBluetooth
import Glibc
import OtaflashGATT

/// Where the doctor looks, so that a test can describe another machine.
struct DoctorFacts: Sendable {
  /// The error of opening an L2CAP socket; 0 when it opens.
  var socketError: @Sendable () -> Int32
  var openSession: @Sendable () throws(MgmtFault) -> MgmtSession
  var switches: @Sendable () -> [RFKillSwitch]?
  var capabilities: @Sendable () -> Capabilities?
  var isDaemonRunning: @Sendable () -> Bool

  /// This machine.
  static let machine = DoctorFacts(
    socketError: {
      let raw = socket(AF_BLUETOOTH, otaflash_seqpacket_type, BTPROTO_L2CAP)
      guard raw >= 0 else { return errno }
      _ = FileDescriptor(owning: raw)
      return 0
    },
    openSession: { () throws(MgmtFault) in try MgmtSession() },
    switches: { RFKillSwitch.all() },
    capabilities: {
      ProcessFile.read("/proc/self/status").flatMap { Capabilities(status: $0) }
    },
    isDaemonRunning: { ProcessFile.isRunning("bluetoothd") })
}

/// The effective capabilities that matter for Bluetooth (linux/capability.h).
struct Capabilities: Equatable, Sendable {
  let hasNetAdmin: Bool
  let hasNetRaw: Bool

  /// Reads the `CapEff` line of /proc/self/status.
  init?(status: String) {
    let (netAdmin, netRaw): (UInt64, UInt64) = (1 << 12, 1 << 13)
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
      let digits = line.split(whereSeparator: \.isWhitespace).last,
      let mask = UInt64(digits, radix: 16)
    else { return nil }
    hasNetAdmin = mask & netAdmin != 0
    hasNetRaw = mask & netRaw != 0
  }
}

/// Small files of /proc.
enum ProcessFile {
  private static let sizeMaximum = 16384

  /// The file's first 16 KiB; `nil` when it cannot be read.
  static func read(_ path: String) -> String? {
    let raw = open(path, O_RDONLY | O_CLOEXEC)
    guard raw >= 0 else { return nil }
    let descriptor = FileDescriptor(owning: raw)
    var octets = [UInt8](repeating: 0, count: sizeMaximum)
    let count = Glibc.read(descriptor.raw, &octets, octets.count)
    guard count >= 0 else { return nil }
    return String(decoding: octets.prefix(count), as: UTF8.self)
  }

  /// Whether a process of that name runs, as far as /proc shows.
  static func isRunning(_ name: String) -> Bool {
    guard let directory = opendir("/proc") else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let number = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard number.allSatisfy(\.isNumber) else { continue }
      if read("/proc/\(number)/comm") == name + "\n" { return true }
    }
    return false
  }
}

/// Answers of the management interface about its adapters.
enum MgmtIndexList {
  /// The answer to Read Index List: a count and that many adapter numbers.
  static func decode(_ octets: [UInt8]) throws(MgmtFault) -> [UInt16] {
    do throws(MgmtDecodeFault) {
      var fields = MgmtFields(octets[...])
      let count = try fields.uint16()
      var indexes: [UInt16] = []
      for _ in 0..<count { indexes.append(try fields.uint16()) }
      return indexes.sorted()
    } catch {
      throw .malformed
    }
  }

  static func information(_ octets: [UInt8]) throws(MgmtFault) -> ControllerInformation {
    do throws(MgmtDecodeFault) {
      return try ControllerInformation(decoding: octets)
    } catch {
      throw .malformed
    }
  }
}
