import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashSimulation
import Testing

private struct SimulatedDoorway: Doorway {
  let board: SimulatedBoard

  func dial() async throws(ConnectFault) -> any Link { try await board.dial() }
}

/// A campaign over simulated boards, in virtual time.
@Suite struct SimulatedCampaignTests {
  @Test func everyBoardIsUpdated() throws {
    let profiles = try ["fast?seed=1", "fast?seed=2&loss=1%", "fast?seed=3", "fast?seed=4"].map {
      try SimulationProfile(parsing: $0)
    }
    let ids = (0..<4).map { "door \($0)" }
    let (run, events, versions) = try simulate(boards: profiles) { boards, clock in
      let doors = zip(ids, boards.map { SimulatedDoorway(board: $0) })
      let transport = DoorTransport(doors: Dictionary(uniqueKeysWithValues: doors))
      let (run, events) = try await DoorCampaign(ids).run(over: transport, clock: clock)
      return (run, events, boards.map { $0.running.version })
    }
    #expect(run.control == .ended(.complete(failed: 0)))
    #expect(run.devices.allSatisfy { $0.ending == .updated })
    #expect(versions.allSatisfy { $0 == FirmwareVersion(1, 3, 0) })
    #expect(run.waves.map(\.verdict) == [.continue, .continue])
    // The complete display of a run is derived from its events.
    #expect(FleetRun(events).devices == run.devices)
    let first = try #require(run["door 0"]?.records.first)
    #expect(first.adapter == "adapter" && first.ended != nil)
  }
}
