import OtaflashTestSupport
import OtaflashWire
import Testing

@testable import OtaflashUpdate

@Suite struct SMPReassemblyTests {
  private static let message = hex("0b00 0008 0001 0701 a1 63 6f6666 190200")

  private static func header() throws -> SMPHeader { try SMPHeader(decoding: message) }

  @Test("a message is reassembled from fragments of any size", arguments: 8...16)
  func parts(size: Int) throws {
    var reassembly = SMPReassembly()
    var outcomes: [SMPReassembly.Outcome] = []
    for start in stride(from: 0, to: Self.message.count, by: size) {
      outcomes.append(
        reassembly.received(Array(Self.message[start..<min(start + size, Self.message.count)])))
    }
    #expect(outcomes.last == .message(try Self.header(), Self.message))
    #expect(outcomes.dropLast().allSatisfy { $0 == .incomplete })
    #expect(!reassembly.isInMessage)
  }

  @Test("messages follow one another")
  func twice() throws {
    var reassembly = SMPReassembly()
    for _ in 0..<2 {
      #expect(reassembly.received(Array(Self.message.prefix(9))) == .incomplete)
      #expect(
        reassembly.received(Array(Self.message.dropFirst(9)))
          == .message(try Self.header(), Self.message))
    }
  }

  @Test("data that does not start a message is dropped, and the next message is read")
  func noBeginning() throws {
    var reassembly = SMPReassembly()
    #expect(reassembly.received([]) == .dropped(.headerEndsEarly(bytes: 0)))
    #expect(reassembly.received([1, 2, 3]) == .dropped(.headerEndsEarly(bytes: 3)))
    #expect(
      reassembly.received([UInt8](repeating: 0xFF, count: 20)) == .dropped(.unknownVersion(3)))
    #expect(reassembly.received(Self.message) == .message(try Self.header(), Self.message))
  }

  @Test("bytes after the announced length are dropped")
  func tooLong() throws {
    var reassembly = SMPReassembly()
    #expect(
      reassembly.received(Self.message + [0]) == .dropped(.wrongLength(said: 8, found: 9)))
    #expect(reassembly.received(Self.message) == .message(try Self.header(), Self.message))
  }

  @Test("an incomplete message is dropped on request")
  func reset() throws {
    var reassembly = SMPReassembly()
    #expect(reassembly.received(Array(Self.message.prefix(10))) == .incomplete)
    #expect(reassembly.isInMessage)
    reassembly.reset()
    #expect(reassembly.received(Self.message) == .message(try Self.header(), Self.message))
  }

  @Test("a response is matched by its number, and others are counted")
  func exchange() throws {
    func header(_ sequence: UInt8, _ operation: SMPOperation = .writeResponse) -> SMPHeader {
      SMPHeader(
        version: .v2, operation: operation, bodyLength: 1, group: .image, sequence: sequence,
        command: 1)
    }
    var exchange = SMPExchange(firstSequence: 254)
    let numbers = (0..<4).map { _ in exchange.begin(SMPImage.Upload.command) }
    #expect(numbers == [254, 255, 0, 1])
    let inOrder = [
      // The response to a request, its repetition, and the response to an earlier request: only the
      // first is accepted.
      exchange.received(header(255)), exchange.received(header(255)),
      exchange.received(header(254)),
      // A response of another kind, and a message that is not a response.
      exchange.received(header(0, .readResponse)), exchange.received(header(0, .write)),
      exchange.received(header(99, .write)), exchange.received(header(0)),
    ]
    #expect(inOrder == [true, false, false, false, false, false, true])
    exchange.forget(1)
    let late = exchange.received(header(1))
    #expect(!late)
    exchange.receivedMalformed()
    #expect(exchange.ignored == SMPExchange.Ignored(late: 3, alien: 3, malformed: 1))
  }
}
