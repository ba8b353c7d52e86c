import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests that the host searches for a bootloader at the bootloader's address, and does not change
/// another device at this address.
@Suite struct StrangerTests {
  @Test(arguments: ["nordic-dfu", "nordic-legacy"])
  func anApplicationAtTheNextAddressIsAnotherDevice(_ device: String) throws {
    let profile = try SimulationProfile(parsing: "sim:" + device)
    let isLegacy = device == "nordic-legacy"
    let image = try isLegacy ? legacy(firmware(8192)) : secure(firmware(8192))
    let timeline = VirtualTimeline()
    let log = EventLog()
    let stranger = try SimulatedBoard(profile: profile, clock: timeline.clock)
    let before = try stranger.runningImage()
    let result = try timeline.run(limit: .seconds(3600)) { clock in
      await withTaskGroup(of: UpdateFault?.self) { group in
        group.addTask {
          await stranger.run()
          return nil
        }
        group.addTask {
          let dialer = Dialer(at: { (place) async throws(ConnectFault) -> any Link in
            guard place == .nextAddress else {
              throw .deviceNotFound(cause: "It is switched off.", remedy: .advice("Switch it on."))
            }
            return try await stranger.dial()
          }).tracing(on: clock) { log.note($0) }
          do throws(UpdateFault) {
            _ = try await FirmwareUpdate(image: image).run(on: dialer, clock: clock)
            return nil
          } catch {
            return error
          }
        }
        let fault = await group.next() ?? nil
        group.cancelAll()
        return fault
      }
    }
    guard case .couldNotConnect(.deviceNotFound) = result else {
      Issue.record("\(String(describing: result))")
      return
    }
    #expect(try stranger.runningImage() == before)
    // No data was written to the device, not even a subscription.
    #expect(
      log.crossings.allSatisfy { $0.direction == .received || ![0x12, 0x52].contains($0.pdu[0]) })
  }
}
