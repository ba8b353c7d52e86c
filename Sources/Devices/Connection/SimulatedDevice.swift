import Glibc
import OtaflashBlueZ
import OtaflashConsole
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashState

/// A simulated device in this process. Its flash is stored in the state directory, in one file for
/// each text of the profile, so that the next run continues from the state of the previous run.
package struct SimulatedDevice: Sendable {
  /// The maximum length of a shortened name in bytes. With its CRC32 and its suffix, every file
  /// system supports such a name.
  private static let nameMaximum = 200

  private let board: SimulatedBoard

  package init(
    _ profile: SimulationProfile, storage: (any FlashMedium)?
  ) throws(CommandFault) {
    do throws(FlashFault) {
      board = try SimulatedBoard(profile: profile, storage: storage, clock: EventLoopClock())
    } catch {
      throw .simulation(error.sentence, errno: error.errno)
    }
  }

  /// Returns the device for `text` (`sim:…`) in the state of its last run, and the path of its
  /// flash.
  package static func persistent(
    _ text: String, _ profile: SimulationProfile, in session: Session
  ) throws(CommandFault) -> (SimulatedDevice, path: String) {
    let path = try flashPath(text, in: StateStore.open(session).directory)
    return (try SimulatedDevice(profile, storage: try file(path, for: profile)), path)
  }

  package static func folder(in directory: StateDirectory) -> String { directory.path + "/sim" }

  /// Returns the path of the flash of `text`.
  package static func flashPath(
    _ text: String, in directory: StateDirectory
  ) throws(CommandFault) -> String {
    let folder = folder(in: directory)
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      let failure = errno
      throw .simulation("\(folder) cannot be created: \(SystemError.text(failure))", errno: failure)
    }
    return "\(folder)/\(fileName(text)).flash"
  }

  package static func file(
    _ path: String, for profile: SimulationProfile
  ) throws(CommandFault) -> FlashFile {
    do throws(FlashFault) {
      return try FlashFile(
        path: path, size: profile.flashSize, formerSize: profile.imageFlashSize)
    } catch {
      throw .simulation("\(path): \(error.sentence)", errno: error.errno)
    }
  }

  /// Checks that a file has the size of the flash, so that a wrong path does not cause the removal
  /// of another file.
  package static func checkIsFlash(
    _ path: String, of profile: SimulationProfile
  ) throws(CommandFault) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG,
      [0, profile.flashSize, profile.imageFlashSize].contains(Int(status.st_size))
    else {
      throw .simulation(
        "\(path) was not removed: it is not the flash of this device, which has "
          + "\(Text.grouped(profile.flashSize)) B", errno: EFBIG)
    }
  }

  /// Returns a file name that is different for each profile. A name that is too long is shortened
  /// and followed by a CRC32.
  package static func fileName(_ text: String) -> String {
    let body = text.removingPrefix("sim:") ?? text
    guard !body.isEmpty else { return "plain" }
    let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=&.".utf8)
    let escaped = body.utf8.map { byte in
      plain.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + Text.padded(String(byte, radix: 16), 2)
    }.joined()
    guard escaped.utf8.count > nameMaximum else { return escaped }
    // The escaping never produces `~`.
    return escaped.prefix(nameMaximum) + "~" + String(CRC32.checksum(body.utf8), radix: 16)
  }

  package var dialer: Dialer {
    Dialer(at: { (place) async throws(ConnectFault) -> any Link in try await dial(at: place) })
  }

  /// Connects to the device at its current location.
  package func dial(at place: DeviceLocation) async throws(ConnectFault) -> any Link {
    try await board.dial(at: place)
  }

  /// Connects to the program that the device currently runs, at any address: a socket does not
  /// specify a Bluetooth address.
  package func dial() async throws(ConnectFault) -> any Link { try await board.dial(address: nil) }

  /// Counters since the creation of the device.
  package var counters: BoardCounters { board.counters }

  /// Serves a host over a link of a real radio; returns when the host has disconnected.
  package func serve(_ link: any Link) async { await board.serve(link) }

  /// Powers the device until `body` has ended. Cancellation reaches only the body: the device must
  /// still be present when the body notifies it.
  package func run<Success: Sendable>(
    while body: @escaping @Sendable () async -> Success
  ) async -> Success {
    let board = board
    return await withService({ await board.run() }, body)
  }
}

extension FlashFault {
  /// The errno of a failed operation on the flash file; EIO for any other fault.
  fileprivate var errno: Int32 {
    if case .medium(_, let errno) = self { errno } else { EIO }
  }

  package var sentence: String {
    switch self {
    case .medium(_, EWOULDBLOCK): "another process simulates this device"
    case .medium(_, EFBIG):
      "the flash of this device was created with another slot size"
    case .medium(let operation, let errno): "\(operation) failed: \(SystemError.text(errno))"
    case let fault: "the simulated flash was misused: \(fault)"
    }
  }
}
