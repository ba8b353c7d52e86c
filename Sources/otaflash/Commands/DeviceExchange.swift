import OtaflashConsole
import OtaflashDevices
import OtaflashGATT
import OtaflashUpdate

/// Short exchanges with one device, such as reading a setting.
extension DeviceSelector {
  /// Runs an exchange with the device, and refreshes the display meanwhile.
  ///
  /// - Parameter isExclusive: whether the exchange changes the device, so that no other process may
  ///   use it.
  func exchange<Value: Sendable>(
    in session: Session, isExclusive: Bool, link: LinkOptions? = nil,
    _ body: @escaping @Sendable (Dialer, any LinkClock) async throws(UpdateFault) -> Value
  ) async throws(CommandFault) -> Value {
    let destination = try await ResolvedDevice.resolve(
      self, in: session, tuning: link?.tuning(else: .flashing),
      isTuningExplicit: link?.asksForSomething ?? false)
    let lock = isExclusive ? try destination.lock() : nil
    let (result, _) = await session.displaying { () async -> Result<Value, UpdateFault> in
      await destination.withDevice {
        do throws(UpdateFault) {
          return .success(try await body(destination.dialer, destination.clock))
        } catch {
          return .failure(error)
        }
      }
    }
    lock?.release()
    switch result {
    case .success(let value): return value
    case .failure(let fault): throw .update(fault)
    }
  }

  /// Returns the ending of a command for this device.
  func ending(_ outcome: String) -> Ending {
    .done(outcome, devices: [Ending.Device(id: text, outcome: outcome)])
  }
}
