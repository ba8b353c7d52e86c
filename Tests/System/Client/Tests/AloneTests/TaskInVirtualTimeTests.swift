import OtaflashGATT
import OtaflashSimulation
import Testing

private actor Model {
  private(set) var value = 0

  func load(_ clock: any LinkClock) async {
    await clock.pause(for: .seconds(1))
    value = 72
  }
}

@Test func aTaskRunsInVirtualTime() throws {
  let value = try VirtualTimeline().run { clock in
    let model = Model()
    let task = Task(executorPreference: clock.executor) { await model.load(clock) }
    await task.value
    return await model.value
  }
  #expect(value == 72)
}
