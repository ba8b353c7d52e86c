import Glibc
import OtaflashBlueZ

/// The right of one process to work on one device: a name in the kernel's abstract socket namespace
/// (unix(7)), which one process at a time can have, whoever runs it and whatever its environment
/// is. It is given back by the kernel when the process dies, and leaves nothing behind.
public struct DeviceLock: ~Copyable, Sendable {
  private static let prefix = "otaflash/device/"

  private let first: FileDescriptor
  private let second: FileDescriptor?

  /// Takes the lock at once or not at all.
  /// - Parameter identity: what the device is, however it was written.
  /// - Throws: `.deviceBusy` with the holder's pid, also when the holder is this process.
  public init(_ identity: DeviceIdentity) throws(StateFault) {
    let first = try Self.locked(identity.name, identity.device)
    var second: FileDescriptor?
    if let name = identity.otherName { second = try Self.locked(name, identity.device) }
    self.first = first
    self.second = second
  }

  /// Ends the lock here, where the reader can see it.
  public consuming func release() {}

  private static func locked(
    _ name: String, _ device: String
  ) throws(StateFault) -> FileDescriptor {
    let address = AbstractAddress(prefix + name)
    do throws(FileErrno.Failure) {
      let socket = try stream()
      let number = socket.number
      _ = try FileErrno.checked { address.call { bind(number, $0, $1) } }
      // Who is refused connects, to learn from the kernel whose socket this is.
      _ = try FileErrno.checked { listen(number, SOMAXCONN) }
      return socket
    } catch {
      guard error.errno == .addressInUse else {
        throw StateFault(.lock, path: device, error.errno)
      }
      throw .deviceBusy(device: device, holder: holder(of: address))
    }
  }

  private static func stream() throws(FileErrno.Failure) -> FileDescriptor {
    FileDescriptor(
      owning: try FileErrno.checked {
        socket(
          AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      })
  }

  /// The pid of the process that listens; `nil` when it has just gone, or lives in another
  /// container.
  private static func holder(of address: AbstractAddress) -> Int32? {
    do throws(FileErrno.Failure) {
      let asking = try stream()
      let number = asking.number
      _ = try FileErrno.checked { address.call { connect(number, $0, $1) } }
      // struct ucred (unix(7)): pid, uid and gid, of 32 bits each.
      var credentials: [Int32] = [0, 0, 0]
      var size = socklen_t(credentials.count * MemoryLayout<Int32>.size)
      _ = try FileErrno.checked {
        getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &size)
      }
      return credentials[0] > 0 ? credentials[0] : nil
    } catch {
      return nil
    }
  }
}

/// What a device is, however it was written: two spellings of one device are equal here.
public struct DeviceIdentity: Equatable, Sendable {
  /// As people know it.
  public let device: String
  let name: String
  /// A second name of the same device, which must be free as well.
  let otherName: String?

  /// A device on the air, by the octets of its address: no two devices differ in its type alone.
  public init(_ address: BluetoothAddress) {
    let octets = address.littleEndian.map { String($0, radix: 16) }
    self.init(device: "\(address)", name: "air/" + octets.joined(separator: ":"))
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

  /// The folder that the file lies in after all links, and the name there.
  private static func place(of path: String) -> String {
    guard let resolved = realpath(path, nil) else { return "path/" + DeviceFileName.digest(path) }
    defer { free(resolved) }
    let real = String(cString: resolved)
    let slash = real.lastIndex(of: "/") ?? real.startIndex
    let folder = slash == real.startIndex ? "/" : String(real[..<slash])
    guard let folder = file(folder) else { return "path/" + DeviceFileName.digest(real) }
    return folder + "/" + DeviceFileName.digest(String(real[slash...]))
  }
}

/// The address of a socket that has a name and no file.
private struct AbstractAddress {
  private var address = sockaddr_un()
  private let size: socklen_t

  init(_ name: String) {
    let octets = Array(name.utf8)
    precondition(octets.count < MemoryLayout.size(ofValue: address.sun_path), "names are short")
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { path in
      // The first octet stays 0: that makes the name abstract.
      for (index, octet) in octets.enumerated() { path[index + 1] = octet }
    }
    size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + octets.count)
  }

  func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}
