import OtaflashATT
import OtaflashGATT
import OtaflashWire

/// The two characteristics on one connection.
struct SilabsChannel: Sendable {
  let client: GATTClient
  let attributes: SilabsAttributes

  func write(_ request: SilabsRequest) async throws(GATTFault) {
    try await client.write(request.encoded, to: attributes.control)
  }

  /// Whether data can be written without response.
  var hasCommands: Bool { attributes.data?.properties.contains(.writeWithoutResponse) ?? false }

  private func data() throws(GATTFault) -> DiscoveredCharacteristic {
    guard let data = attributes.data else { throw .notFound(SilabsOTA.data) }
    return data
  }

  func command(_ bytes: ArraySlice<UInt8>) async throws(GATTFault) {
    try await client.command(
      encoded: ATTPDU.encodeWriteCommand(try data().value, bytes: bytes))
  }

  func beginWrite(_ bytes: ArraySlice<UInt8>) async throws(GATTFault) -> PendingRequest {
    let data = try data()
    let pending = try await client.beginWrite(
      encoded: ATTPDU.encodeWriteRequest(data.value, bytes: bytes), to: data)
    guard let pending else { throw .violation("a request of another procedure is open") }
    return pending
  }

  /// Reads the version of the application that a loader reports; `nil` if it reports none.
  func applicationVersion() async throws(GATTFault) -> UInt32? {
    let found = attributes.versions.first {
      $0.uuid == SilabsOTA.applicationVersion && $0.properties.contains(.read)
    }
    guard let found else { return nil }
    do throws(GATTFault) {
      let bytes = try await client.read(found)
      guard bytes.count == 4 else { return nil }
      return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    } catch .refused {
      return nil
    }
  }
}
