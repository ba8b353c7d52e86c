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
  case writeSetting(SMPSettings.Write)
  case saveSettings(SMPSettings.Save)
  case shell(SMPShell.Execute)

  /// - Throws: `.unknownCommand` if no supported group defines the request; the faults of the
  ///   fields of a known request.
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
    case SMPSettings.Write.command:
      self = .writeSetting(try SMPSettings.Write(fields: fields))
    case SMPSettings.Save.command: self = .saveSettings(SMPSettings.Save(fields: fields))
    case SMPShell.Execute.command: self = .shell(try SMPShell.Execute(fields: fields))
    default: throw .unknownCommand(command)
    }
  }
}
