import Glibc
import OtaflashTestSupport
import OtaflashWire

/// The SMP codec as a filter, which Tests/System/SMPOracle/oracle.py compares with another codec.
@main
enum SMPCodec {
  private static let usage = """
    usage: smp-codec again               decodes each message on standard input, one per line as
                                         hexadecimal digits, and encodes it again
           smp-codec random SEED COUNT   COUNT random messages of every kind: NAME DIGITS
    """

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "again" where arguments.count == 1:
      while let line = readLine() { print(again(line)) }
    case "random" where arguments.count == 3:
      guard let seed = UInt64(arguments[1]), let count = Int(arguments[2]) else { fail() }
      var random = SplitMix64(seed: seed)
      for _ in 0..<count {
        for sample in Sample.all { print(sample.name, digits(sample.make(&random).encoded)) }
      }
    default: fail()
    }
  }

  private static func fail() -> Never {
    print(usage)
    exit(64)
  }

  private static func again(_ line: String) -> String {
    guard let bytes = bytes(line) else { return "not hexadecimal digits" }
    do throws(SMPDecodeFault) {
      return digits(try SMPMessage(decoding: bytes).throughItsValue().encoded)
    } catch {
      return "refused: \(error)"
    }
  }

  private static func digits(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func bytes(_ line: String) -> [UInt8]? {
    let digits = Array(line.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[start...start + 1], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}

extension SMPMessage {
  /// The message, decoded to a value and encoded again.
  fileprivate func throughItsValue() throws(SMPDecodeFault) -> SMPMessage {
    var copy = self
    if command != nil {
      copy.body = try SMPCall(self).body
    } else {
      copy.body = try answerBody()
    }
    return copy
  }

  private func answerBody() throws(SMPDecodeFault) -> CBORMap {
    func body<Request: SMPRequest>(_ request: Request.Type) throws(SMPDecodeFault) -> CBORMap? {
      let command = Request.command
      guard command.group == group, command.number == number,
        command.operation.response == operation
      else { return nil }
      switch try answer(to: request) {
      case .success(let response): return response.body
      case .failure(let refusal):
        return SMPMessage(answering: question, refusing: refusal).body
      }
    }
    if let found = try body(SMPOS.Echo.self) { return found }
    if let found = try body(SMPOS.Reset.self) { return found }
    if let found = try body(SMPOS.Parameters.self) { return found }
    if let found = try body(SMPOS.ApplicationInfo.self) { return found }
    if let found = try body(SMPOS.BootloaderInfo.self) { return found }
    if let found = try body(SMPImage.ReadState.self) { return found }
    if let found = try body(SMPImage.WriteState.self) { return found }
    if let found = try body(SMPImage.Upload.self) { return found }
    if let found = try body(SMPImage.Erase.self) { return found }
    if let found = try body(SMPImage.SlotInfo.self) { return found }
    if let found = try body(SMPOS.ReadDateTime.self) { return found }
    if let found = try body(SMPOS.WriteDateTime.self) { return found }
    if let found = try body(SMPStatistics.List.self) { return found }
    if let found = try body(SMPStatistics.Show.self) { return found }
    if let found = try body(SMPSettings.Read.self) { return found }
    if let found = try body(SMPSettings.Write.self) { return found }
    if let found = try body(SMPSettings.Delete.self) { return found }
    if let found = try body(SMPFiles.Upload.self) { return found }
    if let found = try body(SMPFiles.Download.self) { return found }
    if let found = try body(SMPFiles.Status.self) { return found }
    if let found = try body(SMPFiles.Checksum.self) { return found }
    if let found = try body(SMPFiles.ChecksumTypes.self) { return found }
    if let found = try body(SMPFiles.Close.self) { return found }
    throw .unknownCommand(SMPCommand(group, number, .read))
  }

  /// The request that this answer belongs to, as far as the header of the answer shows.
  private var question: SMPMessage {
    var question = self
    question.operation = operation == .readResponse ? .read : .write
    return question
  }
}

extension SMPCall {
  fileprivate var body: CBORMap {
    switch self {
    case .echo(let request): request.body
    case .reset(let request): request.body
    case .parameters(let request): request.body
    case .applicationInfo(let request): request.body
    case .bootloaderInfo(let request): request.body
    case .imageState(let request): request.body
    case .setImageState(let request): request.body
    case .upload(let request): request.body
    case .erase(let request): request.body
    case .slotInfo(let request): request.body
    case .readDateTime(let request): request.body
    case .writeDateTime(let request): request.body
    case .listStatistics(let request): request.body
    case .showStatistics(let request): request.body
    case .settings(let call): call.body
    case .files(let call): call.body
    case .shell(let request): request.body
    }
  }
}

extension SMPCall.Settings {
  fileprivate var body: CBORMap {
    switch self {
    case .read(let request): request.body
    case .write(let request): request.body
    case .delete(let request): request.body
    case .commit(let request): request.body
    case .load(let request): request.body
    case .save(let request): request.body
    }
  }
}

extension SMPCall.Files {
  fileprivate var body: CBORMap {
    switch self {
    case .upload(let request): request.body
    case .download(let request): request.body
    case .status(let request): request.body
    case .checksum(let request): request.body
    case .checksumTypes(let request): request.body
    case .close(let request): request.body
    }
  }
}
