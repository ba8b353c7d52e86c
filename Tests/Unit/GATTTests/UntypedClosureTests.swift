import OtaflashGATT
import OtaflashSimulation
import Testing

/// Tests of closures that throw `any Error` instead of the library's typed errors.
@Suite struct UntypedClosureTests {
  private struct Unplugged: Error {}

  private static func fault(
    of dial: @escaping @Sendable () async throws -> any Link
  ) throws -> PeripheralFault? {
    try VirtualTimeline().run { clock in
      await withPeripheral(Dialer(dial), clock: clock) { peripheral in
        do throws(PeripheralFault) {
          try await peripheral.connect()
          return nil
        } catch {
          return error
        }
      }
    }
  }

  @Test func aDialerKeepsTheMeaningOfFaults() throws {
    #expect(
      try Self.fault { throw ConnectFault.lostWhileConnecting(.keysRefused) }
        == .connect(.lostWhileConnecting(.keysRefused)))
    #expect(
      try Self.fault { throw LinkLoss.supervisionTimeout }
        == .connect(.lostWhileConnecting(.supervisionTimeout)))
    #expect(try Self.fault { throw CancellationError() } == .connect(.cancelled))
    guard
      case .connect(.deviceNotFound)? = try Self.fault(of: {
        throw ScanFault.notFound(within: .seconds(1))
      })
    else {
      Issue.record("a scan without a result means that the device was not found")
      return
    }
  }

  @Test func anotherErrorIsReportedWithItsDescription() throws {
    guard
      case .connect(.adapterUnavailable(let cause, _))? = try Self.fault(of: { throw Unplugged() })
    else {
      Issue.record("the error has become another fault")
      return
    }
    #expect(cause.contains("Unplugged"))
  }
}
