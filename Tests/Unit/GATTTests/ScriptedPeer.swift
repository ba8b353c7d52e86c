import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import OtaflashTestSupport
import Testing

/// A peer that expects given PDUs and answers each with given PDUs, like a message sequence chart
/// of the specification.
struct ScriptedPeer: Sendable {
  struct Step: Sendable {
    let expects: String?
    let sends: [String]
    var delay: Duration?

    /// Returns the same step, with its responses after `delay`.
    func after(_ delay: Duration) -> Step {
      var later = self
      later.delay = delay
      return later
    }
  }

  let steps: [Step]

  init(_ steps: [Step]) { self.steps = steps }

  /// Plays the script. Returns `nil` if the script was played completely; otherwise, the first
  /// unexpected PDU or the end of the link.
  func play(on link: MemoryLink, clock: (any LinkClock)? = nil) async -> String? {
    for step in steps {
      do throws(LinkLoss) {
        if let expected = step.expects {
          let received = try await link.receive()
          guard received == hex(expected) else { return "got \(received), not \(expected)" }
        }
        if let delay = step.delay { await clock?.pause(for: delay) }
        for pdu in step.sends { try await link.send(hex(pdu)) }
      } catch {
        return "the link ended with \(error) at \(step)"
      }
    }
    return nil
  }
}

extension ScriptedPeer.Step {
  static func on(_ expects: String, _ sends: String...) -> Self {
    Self(expects: expects, sends: sends)
  }

  static func unasked(_ sends: String...) -> Self { Self(expects: nil, sends: sends) }
}

/// Runs `body` with a client whose peer plays `script`, in virtual time, and checks the script.
func withScript<Value: Sendable>(
  _ script: [ScriptedPeer.Step],
  decorating decorate: @escaping @Sendable (Dialer, VirtualClock) -> Dialer = { dialer, _ in dialer
  },
  _ body: @escaping @Sendable (GATTClient, MemoryLink, VirtualClock) async -> Value
) throws -> Value {
  let (near, far) = MemoryLink.pair(capacity: 16)
  let timeline = VirtualTimeline()
  let result = try timeline.run { clock -> (Value?, String?) in
    await withTaskGroup(of: String?.self) { group in
      group.addTask { await ScriptedPeer(script).play(on: far, clock: clock) }
      let dialer = decorate(Dialer { () async throws(ConnectFault) -> any Link in near }, clock)
      var value: Value?
      do throws(PeripheralFault) {
        value = try await withPeripheral(dialer, clock: clock) {
          (peripheral) async throws(PeripheralFault) -> Value in
          try await peripheral.perform("test") { (client) async throws(GATTFault) -> Value in
            await body(client, far, clock)
          }
        }
      } catch {
        return (nil, "\(error)")
      }
      far.close()
      let complaint = await group.next() ?? nil
      return (value, complaint)
    }
  }
  #expect(result.1 == nil)
  return try #require(result.0)
}

/// The result of a body that may throw, as a value that a test can compare.
func outcome<Value: Sendable>(
  _ body: () async throws(GATTFault) -> Value
) async -> Result<Value, GATTFault> {
  do throws(GATTFault) { return .success(try await body()) } catch { return .failure(error) }
}
