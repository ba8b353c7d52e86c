/// The identity of a request: group, command number, and operation.
package struct SMPCommand: Hashable, Sendable, CustomStringConvertible {
  package enum Access: Sendable { case read, write }

  package let group: SMPGroup
  package let number: UInt8
  package let access: Access

  package init(_ group: SMPGroup, _ number: UInt8, _ access: Access) {
    self.group = group
    self.number = number
    self.access = access
  }

  package var operation: SMPOperation { access == .read ? .read : .write }

  package var description: String {
    "the \(access) command \(number) of SMP group \(group.rawValue)"
  }
}

/// A request of a management group, which a client encodes and a server decodes.
package protocol SMPRequest: Equatable, Sendable {
  associatedtype Response: SMPResponse
  static var command: SMPCommand { get }

  init(fields: SMPFields) throws(SMPDecodeFault)
  var body: CBORMap { get }
}

/// The response to a request that was executed.
package protocol SMPResponse: Equatable, Sendable {
  init(fields: SMPFields) throws(SMPDecodeFault)
  var body: CBORMap { get }
}

/// A response without content.
package struct SMPDone: SMPResponse {
  package init() {}
  package init(fields: SMPFields) {}
  package var body: CBORMap { CBORMap() }
}

/// Any supported request, as decoded by a server.
package enum SMPCall: Equatable, Sendable {
  case echo(SMPOS.Echo)
  case reset(SMPOS.Reset)
  case parameters(SMPOS.Parameters)
  case applicationInfo(SMPOS.ApplicationInfo)
  case bootloaderInfo(SMPOS.BootloaderInfo)
  case imageState(SMPImage.ReadState)
  case setImageState(SMPImage.WriteState)
  case upload(SMPImage.Upload)
  case erase(SMPImage.Erase)
  case slotInfo(SMPImage.SlotInfo)
  case readDateTime(SMPOS.ReadDateTime)
  case writeDateTime(SMPOS.WriteDateTime)
  case listStatistics(SMPStatistics.List)
  case showStatistics(SMPStatistics.Show)
  case settings(Settings)
  case files(Files)
  case shell(SMPShell.Execute)

  /// The requests of the settings group.
  package enum Settings: Equatable, Sendable {
    case read(SMPSettings.Read)
    case write(SMPSettings.Write)
    case delete(SMPSettings.Delete)
    case commit(SMPSettings.Commit)
    case load(SMPSettings.Load)
    case save(SMPSettings.Save)
  }

  /// The requests of the file management group.
  package enum Files: Equatable, Sendable {
    case upload(SMPFiles.Upload)
    case download(SMPFiles.Download)
    case status(SMPFiles.Status)
    case checksum(SMPFiles.Checksum)
    case checksumTypes(SMPFiles.ChecksumTypes)
    case close(SMPFiles.Close)
  }

  /// - Throws: `.answersAnother` if the message is a response; `.unknownCommand` if no supported
  ///   group defines the request; the faults of the fields of a known request.
  package init(_ message: SMPMessage) throws(SMPDecodeFault) {
    guard let command = message.command else {
      throw .answersAnother(SMPCommand(message.group, message.number, .read))
    }
    let fields = SMPFields(message.body)
    switch command {
    case SMPOS.Echo.command: self = .echo(try SMPOS.Echo(fields: fields))
    case SMPOS.Reset.command: self = .reset(try SMPOS.Reset(fields: fields))
    case SMPOS.Parameters.command: self = .parameters(SMPOS.Parameters(fields: fields))
    case SMPOS.ApplicationInfo.command:
      self = .applicationInfo(try SMPOS.ApplicationInfo(fields: fields))
    case SMPOS.BootloaderInfo.command:
      self = .bootloaderInfo(try SMPOS.BootloaderInfo(fields: fields))
    case SMPImage.ReadState.command: self = .imageState(SMPImage.ReadState(fields: fields))
    case SMPImage.WriteState.command:
      self = .setImageState(try SMPImage.WriteState(fields: fields))
    case SMPImage.Upload.command: self = .upload(try SMPImage.Upload(fields: fields))
    case SMPImage.Erase.command: self = .erase(try SMPImage.Erase(fields: fields))
    case SMPImage.SlotInfo.command: self = .slotInfo(SMPImage.SlotInfo(fields: fields))
    case SMPOS.ReadDateTime.command: self = .readDateTime(SMPOS.ReadDateTime(fields: fields))
    case SMPOS.WriteDateTime.command:
      self = .writeDateTime(try SMPOS.WriteDateTime(fields: fields))
    case SMPStatistics.List.command: self = .listStatistics(SMPStatistics.List(fields: fields))
    case SMPStatistics.Show.command:
      self = .showStatistics(try SMPStatistics.Show(fields: fields))
    case SMPShell.Execute.command: self = .shell(try SMPShell.Execute(fields: fields))
    default:
      if let settings = try Settings(command, fields) {
        self = .settings(settings)
      } else if let files = try Files(command, fields) {
        self = .files(files)
      } else {
        throw .unknownCommand(command)
      }
    }
  }
}

extension SMPCall.Settings {
  fileprivate init?(_ command: SMPCommand, _ fields: SMPFields) throws(SMPDecodeFault) {
    switch command {
    case SMPSettings.Read.command: self = .read(try SMPSettings.Read(fields: fields))
    case SMPSettings.Write.command: self = .write(try SMPSettings.Write(fields: fields))
    case SMPSettings.Delete.command: self = .delete(try SMPSettings.Delete(fields: fields))
    case SMPSettings.Commit.command: self = .commit(SMPSettings.Commit(fields: fields))
    case SMPSettings.Load.command: self = .load(SMPSettings.Load(fields: fields))
    case SMPSettings.Save.command: self = .save(SMPSettings.Save(fields: fields))
    default: return nil
    }
  }
}

extension SMPCall.Files {
  fileprivate init?(_ command: SMPCommand, _ fields: SMPFields) throws(SMPDecodeFault) {
    switch command {
    case SMPFiles.Upload.command: self = .upload(try SMPFiles.Upload(fields: fields))
    case SMPFiles.Download.command: self = .download(try SMPFiles.Download(fields: fields))
    case SMPFiles.Status.command: self = .status(try SMPFiles.Status(fields: fields))
    case SMPFiles.Checksum.command: self = .checksum(try SMPFiles.Checksum(fields: fields))
    case SMPFiles.ChecksumTypes.command:
      self = .checksumTypes(SMPFiles.ChecksumTypes(fields: fields))
    case SMPFiles.Close.command: self = .close(SMPFiles.Close(fields: fields))
    default: return nil
    }
  }
}
