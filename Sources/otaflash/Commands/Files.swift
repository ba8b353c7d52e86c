import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

/// The files of a device with SMP.
struct Files: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "files",
    abstract: "Read and write files of a device with SMP.",
    discussion: """
      Paths on the device are absolute, and start with a mount point such as /lfs1. The firmware \
      must be built with CONFIG_MCUMGR_GRP_FS. To try it without a device:

        otaflash files put notes.txt /lfs1/notes.txt -d 'sim:smp?shell=yes'
        otaflash files list /lfs1 -d 'sim:smp?shell=yes'
      """,
    subcommands: [FilesPut.self, FilesGet.self, FilesList.self])

  @OptionGroup var global: GlobalOptions
}

/// The options of a transfer.
struct FileTransferOptions: ParsableArguments, Sendable {
  @Option(name: .long, help: "The ATT_MTU to request, 23 to 517 bytes.")
  var mtu: WholeNumber = 512

  private static let range = 23...517

  func validate() throws {
    guard Self.range.contains(mtu.value) else {
      throw ValidationError("--mtu \(mtu.value) is out of range; specify 23 to 517")
    }
  }

  var options: UpdateOptions {
    var options = UpdateOptions()
    options.mtu = mtu.value
    return options
  }
}

extension SMPFileEvidence {
  /// The evidence in JSON.
  var name: String {
    switch self {
    case .checksum(let name): name
    case .readBack: "read-back"
    case .length: "length"
    }
  }

  var words: String {
    switch self {
    case .checksum(let name): "verified by \(name)"
    case .readBack: "verified by reading it back"
    case .length: "only the length was compared, because the device has no checksum command"
    }
  }
}

/// Checks a path on the device.
enum DevicePath {
  static func parse(_ text: String) throws -> String {
    guard text.hasPrefix("/") else {
      throw ValidationError("'\(text)' is not an absolute path; write one such as /lfs1/notes.txt")
    }
    return text
  }
}
