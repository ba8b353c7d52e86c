import Glibc
import OtaflashBlueZ

/// The exclusive right of one process to use a device. The kernel releases the lock when the
/// process dies (`NameLock`).
public struct DeviceLock: ~Copyable, Sendable {
  private static let prefix = "otaflash/device/"

  private let first: NameLock
  private let second: NameLock?

  /// Acquires the lock without waiting.
  /// - Parameter identity: the identity of the device.
  /// - Throws: `.deviceBusy` with the holder's pid, even if the holder is this process; another
  ///   fault if the lock cannot be created.
  public init(_ identity: DeviceIdentity) throws(StateFault) {
    do throws(NameLock.Refusal) {
      let first = try NameLock(Self.prefix + identity.name)
      var second: NameLock?
      if let name = identity.otherName { second = try NameLock(Self.prefix + name) }
      self.first = first
      self.second = second
    } catch {
      switch error {
      case .held(let holder): throw .deviceBusy(device: identity.device, holder: holder)
      case .failed(let errno): throw StateFault(.lock, path: identity.device, errno)
      }
    }
  }

  /// Releases the lock explicitly.
  public consuming func release() {}
}

/// The identity of a device. The names of the device's locks are the same for all texts that select
/// the device.
public struct DeviceIdentity: Equatable, Sendable {
  /// The device as the user specified it, for messages.
  public let device: String
  let name: String
  /// A second name of the same device; this name must also be free.
  let otherName: String?

  /// Creates the identity of a Bluetooth device from the bytes of its address. The address type is
  /// not included: two devices whose addresses differ only in the type are treated as one device.
  public init(_ address: BluetoothAddress) {
    let bytes = address.littleEndian.map { String($0, radix: 16) }
    self.init(device: "\(address)", name: "air/" + bytes.joined(separator: ":"))
  }

  /// Creates the identity of a device with a socket or a file; the names of the locks are the same
  /// for all paths of the file. Both the file and its location are locked, because a device that
  /// restarts creates a new file in the same location.
  public init(path: String, device: String) {
    self.init(device: device, name: Self.place(of: path), otherName: Self.file(path))
  }

  private init(device: String, name: String, otherName: String? = nil) {
    self.device = device
    self.name = name
    self.otherName = otherName
  }

  private static func file(_ path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return "file/\(status.st_dev)/\(status.st_ino)"
  }

  /// Returns the name of the lock for a location: the identity of the folder in the file system,
  /// and a digest of the file's name. Links are resolved. The file need not exist.
  private static func place(of path: String) -> String {
    let real = resolved(path) ?? path
    let slash = real.lastIndex(of: "/") ?? real.startIndex
    let folder = slash == real.startIndex ? "/" : String(real[..<slash])
    guard real.contains("/"), let folder = file(folder) else {
      return "path/" + DeviceFileName.digest(real)
    }
    return folder + "/" + DeviceFileName.digest(String(real[slash...]))
  }

  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
