import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetForecast
import OtaflashGATT
import OtaflashSimulation
import Testing

@Suite struct SimulatedFleetTransportTests {
  @Test func aBoardLosesItsPowerAfterAnAttempt() throws {
    let profile = try FleetProfile(parsing: "sim-fleet:2?adapters=3&hears=2")
    let (hearing, during, after) = try VirtualTimeline().run { clock in
      let fleet = SimulatedFleet(profile, clock: clock)
      let transport = SimulatedFleetTransport(fleet) { "board-000\($0)" }
      return await withService {
        await fleet.run()
      } _: {
        let hearing = transport.hearing(of: "2")
        var during: Int?
        do throws(DeviceHeldElsewhere) {
          during = try await transport.holding("2") { () async -> Int in
            _ = await Self.link("2", transport)
            return fleet.truth.count { $0.value.version != nil }
          }
        } catch {
          Issue.record("no other process uses the device")
        }
        await clock.pause(for: .seconds(1))
        return (hearing, during, fleet.poweredCount)
      }
    }
    #expect(hearing.count == 2 && during == 1 && after == 0)
  }

  private static func link(_ id: String, _ transport: SimulatedFleetTransport) async -> (any Link)?
  {
    do throws(ConnectFault) {
      return try await transport.connect(to: id, at: .home, on: "hci0")
    } catch { return nil }
  }
}
