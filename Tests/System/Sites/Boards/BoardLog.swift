/// Everything that a board observed of its hosts. Times are seconds of CLOCK_MONOTONIC, which all
/// processes of a machine share.
struct BoardLog: Encodable {
  /// One connection of a host.
  struct Connection: Encodable {
    /// 1, 2, … in the order in which the board accepted the connections.
    let number: Int
    /// The process id of the host.
    let process: Int32
    let start: Double
    var end: Double?
    var firstWrite: Double?
    var lastWrite: Double?
    var pdus = 0
    /// The number of image bytes, including repeated ones.
    var bytes = 0
  }

  /// A PDU on a connection after a write on a newer connection: its host had lost the device.
  struct LateWrite: Encodable {
    let connection: Int
    /// The newer connection, whose first write was before this PDU.
    let newer: Int
    let time: Double
    /// The opcode of the PDU.
    let opcode: UInt8
  }

  /// One transfer of the image from offset 0, over one or more connections.
  struct Pass: Encodable {
    /// The reason why the image was sent from offset 0.
    enum Cause: String, Encodable {
      case first
      /// The device reported that it holds no bytes of the image.
      case deviceLostIt
      /// A host discarded bytes that the device held.
      case hostDiscardedIt
      /// The device already ran the image.
      case alreadyRunning
    }

    let connection: Int
    let start: Double
    let cause: Cause
    /// The number of bytes that the board had received before.
    let heldBefore: Int
    /// The time of the last byte.
    var end: Double?
  }

  struct Activation: Encodable {
    let connection: Int
    let time: Double
  }

  private(set) var connections: [Connection] = []
  private(set) var lateWrites: [LateWrite] = []
  private(set) var passes: [Pass] = []
  private(set) var activations: [Activation] = []
  /// The offsets at which transfers continued.
  private(set) var resumes: [Int] = []
  /// The number of image bytes on all connections, including repeated ones.
  private(set) var bytes = 0
  /// The size of the image of the last session.
  private(set) var imageSize = 0

  /// The next expected byte of the image.
  private var expected = 0
  private var requested: (size: Int, checksum: UInt32, restart: Bool)?
  private var checksum: UInt32?
  /// Whether the device held bytes according to its last report.
  private var isHolding = false
  private var isDiscarded = false
  private var watch = HostWatch()

  private enum CodingKeys: String, CodingKey {
    case connections, lateWrites, passes, activations, resumes, bytes, imageSize
  }

  /// Opens a connection and returns its number.
  mutating func connected(process: Int32, at time: Double) -> Int {
    let number = connections.count + 1
    connections.append(Connection(number: number, process: process, start: time))
    return number
  }

  mutating func ended(_ number: Int, at time: Double) {
    if connections[number - 1].end == nil { connections[number - 1].end = time }
  }

  /// Records a PDU from a host, also if the board does not serve the connection.
  mutating func arrived(_ pdu: [UInt8], on number: Int, at time: Double) {
    let index = number - 1
    if let newer = connections[number...].first(where: { $0.firstWrite != nil }) {
      lateWrites.append(
        LateWrite(
          connection: number, newer: newer.number, time: time, opcode: pdu.first ?? 0))
    }
    connections[index].pdus += 1
    guard HostWatch.isWrite(pdu) else { return }
    if connections[index].firstWrite == nil { connections[index].firstWrite = time }
    connections[index].lastWrite = time
    // A superseded connection does not reach the device.
    guard number == connections.count else { return }
    switch watch.fromHost(pdu) {
    case .data(let offset, let count): received(offset, count, on: index, at: time)
    case .begin(let size, let checksum, let restart): requested = (size, checksum, restart)
    case .discard: isDiscarded = true
    default: break
    }
  }

  /// Records a PDU of the board.
  ///
  /// - Parameter running: returns the CRC32 of the running image.
  mutating func sent(
    _ pdu: [UInt8], on number: Int, at time: Double, running: () -> UInt32
  ) {
    switch watch.fromBoard(pdu) {
    case .held(let size, let offset): isHolding = size > 0 && offset > 0
    case .begun(let offset): begun(at: offset, on: number, at: time, running: running)
    case .rewound(let offset): expected = min(expected, offset)
    case .activated: activations.append(Activation(connection: number, time: time))
    default: break
    }
  }

  private mutating func received(_ offset: Int, _ count: Int, on index: Int, at time: Double) {
    bytes += count
    connections[index].bytes += count
    // The host repeats an offset that the device could not store.
    guard offset <= expected, !passes.isEmpty else { return }
    expected = offset + count
    if expected >= imageSize, passes[passes.count - 1].end == nil {
      passes[passes.count - 1].end = time
    }
  }

  private mutating func begun(
    at offset: Int, on number: Int, at time: Double, running: () -> UInt32
  ) {
    guard let request = requested else { return }
    let isOther = checksum != nil && checksum != request.checksum
    (imageSize, checksum, requested) = (request.size, request.checksum, nil)
    guard offset == 0 else {
      resumes.append(offset)
      expected = offset
      return
    }
    let cause: Pass.Cause =
      if running() == request.checksum {
        .alreadyRunning
      } else if isOther || expected == 0 {
        .first
      } else if isDiscarded || request.restart && isHolding {
        .hostDiscardedIt
      } else {
        .deviceLostIt
      }
    // A session of which no byte arrived is not a pass.
    if expected == 0, passes.last?.end == nil { _ = passes.popLast() }
    passes.append(Pass(connection: number, start: time, cause: cause, heldBefore: expected))
    (expected, isDiscarded, isHolding) = (0, false, false)
  }
}
