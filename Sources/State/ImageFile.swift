import FoundationEssentials
import Glibc
import OtaflashFirmware

/// The reason why no image could be read from a path.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ImageFileFault: Error, Equatable, Sendable {
  /// The file does not exist.
  case missing(path: String)
  /// The path is a directory.
  case isDirectory(path: String)
  /// The file could not be opened or read; `FileErrno` states the reason.
  case unreadable(path: String, FileErrno)
  /// The task was cancelled before the end of the file.
  case cancelled(path: String)
  /// The file is not an image that can be sent.
  case malformed(path: String, FirmwareFault)
  /// The sidecar file of the image is invalid.
  case sidecar(path: String, SidecarFault)
}

/// A fault of an image's sidecar file (docs/image-descriptor.md).
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SidecarFault: Error, Equatable, Sendable {
  /// The file exceeds the maximum size.
  case tooLarge(limit: Int)
  /// The file is not a JSON object whose values are strings.
  case notAnObjectOfStrings
  /// The file contains an unknown or misspelled member.
  case unknownKey(String)
  /// `version` is not a version such as `1.3.0`.
  case malformedVersion(String)
  /// `hardware` is not a hardware id such as `0x0000A001`.
  case malformedHardware(String)
  /// The file contains neither a version nor a hardware id.
  case saysNothing
}

/// Reads images from disk. The functions block the thread while they read.
public enum ImageFile {
  /// The path that stands for standard input.
  public static let standardInput = "-"
  /// The maximum size of a sidecar file in bytes.
  public static let sidecarLimit = 4096
  /// The suffix of a sidecar file, after the path of the image.
  public static let sidecarSuffix = ".json"

  /// Reads a file that contains one image.
  ///
  /// - Parameters:
  ///   - path: the path; `-` is standard input.
  ///   - overrides: the values of the user, which take precedence.
  ///   - region: the addresses to read from a file with addresses.
  ///   - limit: the maximum size in bytes; at most one byte more is read.
  public static func load(
    _ path: String, overrides: ImageIdentity = ImageIdentity(), region: AddressRegion? = nil,
    limit: Int = FirmwareImage.defaultLimit
  ) throws(ImageFileFault) -> FirmwareImage {
    let package = try loadPackage(path, overrides: overrides, region: region, limit: limit)
    do throws(FirmwareFault) {
      return try package.onlyImage()
    } catch {
      throw .malformed(path: path, error)
    }
  }

  /// Reads a firmware file of any kind and, unless it comes from standard input, its sidecar file
  /// `<path>.json`. The file is read only once, so the bytes that are checked are the bytes that
  /// are sent.
  ///
  /// Cancellation of the task ends the wait for data of a FIFO or standard input.
  ///
  /// - Parameters:
  ///   - path: the path; `-` is standard input.
  ///   - overrides: the values of the user, which take precedence.
  ///   - region: the addresses to read from a file with addresses.
  ///   - limit: the maximum size in bytes; at most one byte more is read.
  ///   - onSilence: called after two seconds without data, once for each such pause.
  public static func loadPackage(
    _ path: String, overrides: ImageIdentity = ImageIdentity(), region: AddressRegion? = nil,
    limit: Int = FirmwareImage.defaultLimit, onSilence: () -> Void = {}
  ) throws(ImageFileFault) -> FirmwarePackage {
    let (bytes, sidecar) = try readContent(path, limit: limit, onSilence: onSilence)
    do throws(FirmwareFault) {
      return try FirmwarePackage.decode(
        name: lastComponent(of: path), bytes: bytes, sidecar: sidecar, overrides: overrides,
        region: region, limit: limit)
    } catch {
      throw .malformed(path: path, error)
    }
  }

  /// Returns the contents of a firmware file and its sidecar file, without parsing them.
  package static func readContent(
    _ path: String, limit: Int = FirmwareImage.defaultLimit, onSilence: () -> Void = {}
  ) throws(ImageFileFault) -> (bytes: [UInt8], sidecar: ImageIdentity?) {
    guard path != standardInput else {
      return (try read(descriptor: STDIN_FILENO, limit: limit, onSilence: onSilence), nil)
    }
    let bytes = try read(waitingOn: path, limit: limit, onSilence: onSilence)
    return (bytes, try loadSidecar(path + sidecarSuffix))
  }

  /// Returns the last component of `path`, which is the name of the image.
  package static func lastComponent(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  static func read(
    descriptor: Int32, named path: String = standardInput, limit: Int, onSilence: () -> Void = {}
  ) throws(ImageFileFault) -> [UInt8] {
    do throws(FileErrno.Failure) {
      let bytes = try FileDescriptor.read(
        waitingOn: descriptor, atMost: limit, onSilence: onSilence)
      if let bytes { return bytes }
    } catch {
      throw fault(path, error.errno)
    }
    throw .cancelled(path: path)
  }

  /// Reads a file. The open call does not wait, because a FIFO may have no writer yet.
  private static func read(
    waitingOn path: String, limit: Int, onSilence: () -> Void
  ) throws(ImageFileFault) -> [UInt8] {
    let file: FileDescriptor
    do throws(FileErrno.Failure) {
      file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
    } catch {
      throw fault(path, error.errno)
    }
    return try read(descriptor: file.number, named: path, limit: limit, onSilence: onSilence)
  }

  private static func read(path: String, limit: Int) throws(ImageFileFault) -> [UInt8] {
    do throws(FileErrno.Failure) {
      return try FileDescriptor(opening: path, O_RDONLY).read(atMost: limit)
    } catch {
      throw fault(path, error.errno)
    }
  }

  private static func fault(_ path: String, _ errno: FileErrno) -> ImageFileFault {
    switch errno {
    case .noEntry, .notADirectory: .missing(path: path)
    case .isDirectory: .isDirectory(path: path)
    default: .unreadable(path: path, errno)
    }
  }

  private static func loadSidecar(_ path: String) throws(ImageFileFault) -> ImageIdentity? {
    let bytes: [UInt8]
    do throws(ImageFileFault) {
      bytes = try read(path: path, limit: sidecarLimit)
    } catch .missing {
      return nil
    } catch .unreadable(_, .nameTooLong) {
      // The path with the suffix of a sidecar file is too long, so the file cannot exist.
      return nil
    }
    do throws(SidecarFault) {
      return try sidecar(decoding: bytes)
    } catch {
      throw .sidecar(path: path, error)
    }
  }

  private static func sidecar(decoding bytes: [UInt8]) throws(SidecarFault) -> ImageIdentity {
    guard bytes.count <= sidecarLimit else { throw .tooLarge(limit: sidecarLimit) }
    let fields: [String: String]
    do {
      fields = try JSONDecoder().decode([String: String].self, from: Data(bytes))
    } catch {
      throw .notAnObjectOfStrings
    }
    var identity = ImageIdentity()
    for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
      switch key {
      case "version":
        identity.version = FirmwareVersion(value)
        if identity.version == nil { throw .malformedVersion(value) }
      case "hardware":
        identity.hardware = HardwareID(value)
        if identity.hardware == nil { throw .malformedHardware(value) }
      default: throw .unknownKey(key)
      }
    }
    guard identity != ImageIdentity() else { throw .saysNothing }
    return identity
  }
}

extension ImageFileFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path): "\(path): no such file"
    case .isDirectory(let path): "\(path) is a directory"
    case .unreadable(let path, let errno): "\(path) cannot be read: \(errno)"
    case .cancelled(let path): "\(path): reading was cancelled"
    case .malformed(let path, let fault): "\(path): \(fault)"
    case .sidecar(let path, let fault): "\(path): \(fault)"
    }
  }
}

extension SidecarFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLarge(let limit): "a sidecar file has at most \(limit) bytes"
    case .notAnObjectOfStrings: "a sidecar file is one JSON object whose values are strings"
    case .unknownKey(let key): "the key '\(key)' is unknown; the keys are 'version' and 'hardware'"
    case .malformedVersion(let text): "'\(text)' is not a version such as 1.3.0"
    case .malformedHardware(let text): "'\(text)' is not a hardware id such as 0x0000A001"
    case .saysNothing: "neither 'version' nor 'hardware' is present"
    }
  }
}
