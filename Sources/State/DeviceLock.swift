import Glibc
import OtaflashBlueZ

/// The right of one process to work on one device, given back by the kernel when the process dies
/// (`NameLock`).
public struct DeviceLock: ~Copyable, Sendable {
  private static let prefix = "otaflash/device/"

  private let first: NameLock
  private let second: NameLock?

  /// Takes the lock at once or not at all.
  /// - Parameter identity: what the device is, however it was written.
  /// - Throws: `.deviceBusy` with the holder's pid, also when the holder is this process.
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

  /// Ends the lock here, where the reader can see it.
  public consuming func release() {}
}

/// What a device is, however it was written: two spellings of one device are equal here.
public struct DeviceIdentity: Equatable, Sendable {
  /// As people know it.
  public let device: String
  let name: String
  /// A second name of the same device, which must be free as well.
  let otherName: String?

  /// A device on the air, by the bytes of its address: no two devices differ in its type alone.
  public init(_ address: BluetoothAddress) {
    let bytes = address.littleEndian.map { String($0, radix: 16) }
    self.init(device: "\(address)", name: "air/" + bytes.joined(separator: ":"))
  }

  /// A device behind a socket or in a file, whatever path leads there. The place is taken as well
  /// as the file: a device that restarts makes a new file at the same place.
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

  /// The folder that the file lies in after all links, and the name there. A file that is not there
  /// has the place that it would have.
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
