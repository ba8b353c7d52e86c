import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashSwarm
import OtaflashUpdate

/// Updates one of the devices while the input alters the PDUs that the host receives. The update
/// always ends: no trap, no unlimited wait, no progress beyond the image.
///
/// The first byte selects the device and the write mode; the rest is an `AlterationScript`.
func fuzzUpdate(of profiles: [String], _ input: [UInt8]) {
  guard let choice = input.first else { return }
  let profile = profiles[Int(choice >> 1) % profiles.count]
  var options = UpdateOptions()
  // If the first byte is odd, the second byte selects one of the other two modes.
  let isAuto = input.dropFirst().first.map { !$0.isMultiple(of: 2) } ?? false
  options.mode =
    choice.isMultiple(of: 2) ? .withoutResponse : isAuto ? .auto : .withResponse
  do {
    let update = FirmwareUpdate(
      image: try .drawn(for: profile, size: 1000), options: options, observe: examine)
    fuzzDevice(profile, Array(input.dropFirst())) { (dialer, clock) async throws(UpdateFault) in
      _ = try await update.run(on: dialer, clock: clock)
    }
  } catch {
    preconditionFailure("\(profile): \(error)")
  }
}

/// Runs a transfer to a device while an `AlterationScript` alters the PDUs that the host receives.
/// Every end but a trap or a hang is correct.
func fuzzDevice(
  _ profile: String, _ script: [UInt8],
  _ transfer: @escaping @Sendable (Dialer, VirtualClock) async throws(UpdateFault) -> Void
) {
  let timeline = VirtualTimeline()
  let script = AlterationScript(messages(script))
  do {
    let board = try SimulatedBoard(
      profile: SimulationProfile(parsing: profile), clock: timeline.clock)
    try timeline.run(limit: virtualLimit) { clock in
      let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
        AlteringLink(try await board.dial(at: place), script)
      })
      await board.powered {
        do throws(UpdateFault) { try await transfer(dialer, clock) } catch { _ = "\(error)" }
      }
    }
  } catch {
    preconditionFailure("\(profile): \(error)")
  }
}

/// The time limit of any update: 9 attempts of half a minute for each of its phases, and the
/// device's own waits; each connection of a script may advance the update by only one step.
private let virtualLimit = Duration.seconds(6 * 3600)

@Sendable func examine(_ event: UpdateEvent) {
  switch event {
  case .progress(let acknowledged, let total), .transferBegan(let acknowledged, let total, _):
    precondition((0...total).contains(acknowledged), "\(acknowledged) of \(total)")
  default: break
  }
}
