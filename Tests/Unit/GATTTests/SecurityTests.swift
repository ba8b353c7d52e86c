import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// A link that records the requests to raise its security. Each request raises the security up to
/// `ceiling`, or fails with `fault`.
private final class SecurableLink: Link {
  private let base: any Link
  private let ceiling: AttributeSecurity
  private let fault: SecurityFault?
  private let reached = Mutex<AttributeSecurity>([])
  let asked = Mutex<[AttributeSecurity]>([])

  init(_ base: any Link, upTo ceiling: AttributeSecurity, fault: SecurityFault? = nil) {
    self.base = base
    self.ceiling = ceiling
    self.fault = fault
  }

  var maximumPDUSize: Int { base.maximumPDUSize }
  var security: AttributeSecurity { reached.withLock { $0 } }

  func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    asked.withLock { $0.append(wanted) }
    if let fault { throw fault }
    reached.withLock { $0 = wanted.intersection(ceiling) }
  }

  func send(_ pdu: [UInt8]) async throws(LinkLoss) { try await base.send(pdu) }
  func receive() async throws(LinkLoss) -> [UInt8] { try await base.receive() }
  func close() { base.close() }
}

@Suite struct SecurityTests {
  private static let refusal05 = "01 0A 03 00 05"
  private static let refusal0F = "01 0A 03 00 0F"

  private struct Outcome: Sendable {
    var result: Result<[UInt8], GATTFault>?
    var complaint: String?
    var asked: [AttributeSecurity] = []
  }

  /// Reads attribute 3 from a peer that answers each request with the next of `answers`.
  private func read(
    _ answers: [String], upTo ceiling: AttributeSecurity, fault: SecurityFault? = nil
  ) throws -> Outcome {
    try VirtualTimeline().run { clock in
      let (near, far) = MemoryLink.pair(capacity: 4)
      let link = SecurableLink(near, upTo: ceiling, fault: fault)
      let script = answers.map { ScriptedPeer.Step.on("0A 03 00", $0) }
      async let complaint = ScriptedPeer(script).play(on: far)
      var outcome = Outcome()
      outcome.result = await withPeripheral(
        Dialer { () async throws(ConnectFault) -> any Link in link }, clock: clock
      ) { peripheral in
        do throws(PeripheralFault) {
          return .success(
            try await peripheral.perform("read") { (client) async throws(GATTFault) -> [UInt8] in
              try await client.read(handle: AttributeHandle(3))
            })
        } catch {
          if case .gatt(let fault) = error { return .failure(fault) }
          return nil
        }
      }
      outcome.complaint = await complaint
      outcome.asked = link.asked.withLock { $0 }
      return outcome
    }
  }

  /// Core 5.4, Vol 3, Part C, 10.3.1: the request is repeated after the link is encrypted.
  @Test func aRequestIsRepeatedOnceTheLinkIsEncrypted() throws {
    let outcome = try read([Self.refusal0F, "0B 2A"], upTo: .encryption)
    #expect(outcome.result == .success([0x2A]))
    #expect(outcome.asked == [.encryption])
    #expect(outcome.complaint == nil)
  }

  @Test func authenticationIsTriedAfterEncryptionWasNotEnough() throws {
    let outcome = try read(
      [Self.refusal05, Self.refusal05, "0B 2A"], upTo: [.encryption, .authentication])
    #expect(outcome.result == .success([0x2A]))
    #expect(outcome.asked == [.encryption, [.encryption, .authentication]])
    #expect(outcome.complaint == nil)
  }

  /// A device that always refuses must not cause endless requests, even if raising the security
  /// reports success without an effect.
  @Test(arguments: [[], .encryption, [.encryption, .authentication]] as [AttributeSecurity])
  func aDeviceThatAlwaysRefusesReceivesThreeRequests(_ ceiling: AttributeSecurity) throws {
    let outcome = try read(
      [Self.refusal05, Self.refusal05, Self.refusal05], upTo: ceiling)
    #expect(
      outcome.result
        == .failure(.refused(AttributeReference(AttributeHandle(3)), .insufficientAuthentication)))
    #expect(outcome.asked.count == 2)
    #expect(outcome.complaint == nil)
  }

  /// Insufficient Encryption on an encrypted link.
  @Test func aDeviceThatAlwaysRequiresEncryptionReceivesTwoRequests() throws {
    let outcome = try read([Self.refusal0F, Self.refusal0F], upTo: .encryption)
    #expect(
      outcome.result
        == .failure(.refused(AttributeReference(AttributeHandle(3)), .insufficientEncryption)))
    #expect(outcome.asked == [.encryption])
    #expect(outcome.complaint == nil)
  }

  @Test func aRefusalThatSecurityCannotFixIsReported() throws {
    // The codes are Insufficient Authorization and a key that is too short.
    for code in ["08", "0C"] {
      let outcome = try read(["01 0A 03 00 \(code)"], upTo: [.encryption, .authentication])
      guard case .failure(.refused) = outcome.result else {
        Issue.record("\(String(describing: outcome.result))")
        continue
      }
      #expect(outcome.asked.isEmpty)
    }
  }

  @Test func aFailedPairingContainsTheAttributeAndTheReason() throws {
    let outcome = try read([Self.refusal0F], upTo: [], fault: .bondForgotten)
    #expect(
      outcome.result
        == .failure(
          .insecure(AttributeReference(AttributeHandle(3)), .insufficientEncryption, .bondForgotten)
        ))
  }

  @Test func aTransportWithoutSecurityKeepsTheDevicesErrorCode() throws {
    let outcome = try read([Self.refusal05], upTo: [], fault: .unsupported)
    #expect(
      outcome.result
        == .failure(.refused(AttributeReference(AttributeHandle(3)), .insufficientAuthentication)))
  }

  /// The server checks the link at each request, so a request that was refused is permitted once
  /// the link is secure.
  @Test func aServerSeesTheLinksSecurityChange() throws {
    let pdus = try VirtualTimeline().run { clock -> [[UInt8]] in
      let (near, far) = MemoryLink.pair(capacity: 4)
      let link = SecurableLink(far, upTo: .encryption)
      let server = GATTServer(
        table: AttributeTable(services: [
          LocalService(
            BluetoothUUID(0x180F),
            characteristics: [
              LocalCharacteristic(
                BluetoothUUID(0x2A19), properties: .read, value: .fixed([0x64]),
                security: .encryption)
            ])
        ]))
      async let ended = server.serve(link, clock: clock)
      var answers: [[UInt8]] = []
      do {
        try await near.send([0x0A, 0x03, 0x00])
        answers.append(try await near.receive())
        try await link.raiseSecurity(to: .encryption)
        try await near.send([0x0A, 0x03, 0x00])
        answers.append(try await near.receive())
      } catch {
        Issue.record(error)
      }
      near.close()
      _ = await ended
      return answers
    }
    #expect(pdus == [[0x01, 0x0A, 0x03, 0x00, 0x0F], [0x0B, 0x64]])
  }

  @Test func authorizationIsIndependentOfPairing() {
    let refused = GATTFault.refused(AttributeReference(.first), .insufficientAuthorization)
    guard case .advice? = refused.remedy else {
      Issue.record("\(String(describing: refused.remedy))")
      return
    }
    #expect(
      GATTFault.refused(AttributeReference(.first), .insufficientAuthentication).remedy == .pair)
  }
}
