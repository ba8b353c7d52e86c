#if Sites
import OtaflashATT
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetForecast
import OtaflashGATT
import Synchronization

/// The writers of all boards. A host that writes to a board after a newer connection of another
/// gateway wrote to it is an overlapping writer.
final class WriterWatch: Sendable {
  private struct Writers {
    var connections = 0
    /// The newest connection that has written, and its gateway.
    var last = (connection: 0, gateway: "")
    var gateways: Set<String> = []
  }

  private let boards = Mutex<[FleetDevice.ID: Writers]>([:])
  private let late = Mutex<Set<FleetDevice.ID>>([])

  /// Returns the number of a new connection to a device.
  func open(_ device: FleetDevice.ID) -> Int {
    boards.withLock { boards in
      boards[device, default: Writers()].connections += 1
      return boards[device]?.connections ?? 0
    }
  }

  func wrote(to device: FleetDevice.ID, _ connection: Int, of gateway: String) {
    let isLate = boards.withLock { boards -> Bool in
      var writers = boards[device] ?? Writers()
      defer { boards[device] = writers }
      writers.gateways.insert(gateway)
      guard connection < writers.last.connection else {
        writers.last = (connection, gateway)
        return false
      }
      return writers.last.gateway != gateway
    }
    if isLate { late.withLock { _ = $0.insert(device) } }
  }

  /// The number of devices with overlapping writers.
  var overlaps: Int { late.withLock { $0.count } }

  /// The number of devices to which several gateways wrote, concurrently or not.
  var shared: Int { boards.withLock { $0.values.count { $0.gateways.count > 1 } } }
}

/// The radio of one gateway, in range of the boards of its site.
struct GatewayTransport: DeviceTransport {
  let gateway: String
  let adapter: String
  let base: SimulatedFleetTransport
  let watch: WriterWatch

  func adapters() -> [String] { base.adapters().filter { $0 == adapter } }

  func hearing(of device: FleetDevice.ID) -> [AdapterHearing] {
    base.hearing(of: device).filter { $0.adapter == adapter }
  }

  func connect(
    to device: FleetDevice.ID, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link {
    let link = try await base.connect(to: device, at: place, on: adapter)
    let (watch, gateway, number) = (watch, gateway, watch.open(device))
    return WatchedLink(link) { watch.wrote(to: device, number, of: gateway) }
  }

  func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value {
    try await base.holding(device, body)
  }
}

/// A link that calls `note` for each PDU that is sent to the device.
private final class WatchedLink: Link {
  private let link: any Link
  private let note: @Sendable () -> Void

  init(_ link: any Link, note: @escaping @Sendable () -> Void) {
    self.link = link
    self.note = note
  }

  var maximumPDUSize: Int { link.maximumPDUSize }
  var facts: LinkFacts { link.facts }
  var security: AttributeSecurity { link.security }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    try await link.raiseSecurity(to: wanted)
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) {
    note()
    try await link.send(pdu)
  }

  func offer(_ pdu: [UInt8]) throws(LinkLoss) -> Bool {
    let isSent = try link.offer(pdu)
    if isSent { note() }
    return isSent
  }

  func receive() async throws(LinkLoss) -> [UInt8] { try await link.receive() }

  func close() { link.close() }
}
#endif
