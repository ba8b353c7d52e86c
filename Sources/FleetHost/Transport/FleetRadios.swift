#if Fleet
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashGATT
import Synchronization

/// The adapters of the host in a campaign: each adapter that is on, with its pairing agent and its
/// tuner, as long as it is on.
final class FleetRadios: Sendable {
  /// The time for which several adapters scan at the start, to compare signal strengths.
  private static let listening = Duration.seconds(4)
  /// The delay before another query after the kernel did not answer.
  private static let retryInterval = Duration.seconds(2)

  /// An adapter that is on.
  private struct Radio: Sendable {
    let number: UInt16
    let pairing: PairingAgent
    let tuner: LinkTuner
    let gone = OneShot<Void>()

    /// Serves the adapter until it is removed or off.
    func work() async {
      let (pairing, gone) = (pairing, gone)
      await tuner.serve {
        await pairing.serve { _ = await gone.wait() }
      }
    }
  }

  private struct State {
    var radios: [String: Radio] = [:]
    /// The signal strength in dBm, by device and adapter.
    var discovered: [BluetoothAddress: [String: Int]] = [:]
    /// The number of consecutive queries that the kernel did not answer.
    var silences = 0
  }

  private let session: Session
  private let state = Mutex(State())
  private let arrived = Mailbox<Radio>(capacity: 64)

  /// The numbers of the adapters to use; `nil` = all.
  private let wanted: Set<UInt16>?

  init(_ session: Session, only wanted: Set<UInt16>?) {
    self.session = session
    self.wanted = wanted
  }

  /// The names of the adapters that are on.
  var names: [String] {
    state.withLock { $0.radios.keys.sorted { ($0.count, $0) < ($1.count, $1) } }
  }

  /// Returns every adapter that is on, with the signal strength of the device if it is known.
  func hearing(of device: BluetoothAddress) -> [AdapterHearing] {
    state.withLock { state in
      state.radios.keys.map { AdapterHearing(adapter: $0, rssi: state.discovered[device]?[$0]) }
    }
  }

  func connect(
    to device: BluetoothAddress, at place: DeviceLocation, on adapter: String,
    within limit: Duration
  ) async throws(ConnectFault) -> any Link {
    guard let radio = state.withLock({ $0.radios[adapter] }) else {
      throw .adapterUnavailable(cause: "\(adapter) was removed or is off.", remedy: .plugInAdapter)
    }
    let peer = try await device.search(
      at: place, hearing: LocalAdapter(radio.number), on: EventLoopClock())
    return try await L2CAPLink.connect(
      to: peer, adapter: try await LocalAdapter.address(of: radio.number), within: limit,
      pairing: radio.pairing, tuner: radio.tuner)
  }

  // MARK: Serving

  /// Serves adapters as they appear and disappear, until `body` has ended.
  ///
  /// - Throws: if none of the chosen adapters is on at the start.
  func serve<Success: Sendable>(
    while body: @escaping @Sendable () async -> Success
  ) async throws(CommandFault) -> Success {
    let first = try await present()
    for number in (wanted ?? []).subtracting(first).sorted() {
      session.console.note("note: hci\(number) is off; otaflash uses it when it is on")
    }
    take(first)
    await listen()
    return await withService({ await self.run() }, body)
  }

  /// Returns the adapters that are on, including at least one of the chosen adapters.
  ///
  /// - Throws: if none of the chosen adapters is on.
  @discardableResult
  func present() async throws(CommandFault) -> [UInt16] {
    let present: [UInt16]
    do throws(MgmtFault) { present = try await AdapterRoster().present() } catch {
      throw .survey(error)
    }
    guard !chosen(present).isEmpty else {
      throw .survey(.adapterUnavailable(cause: "No adapter is on.", remedy: .plugInAdapter))
    }
    return present
  }

  private func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.watch() }
      while let radio = await self.arrived.next() {
        group.addTask { await radio.work() }
      }
      group.cancelAll()
    }
    for radio in state.withLock({ $0.radios.values }) { radio.gone.fulfil(()) }
  }

  private func watch() async {
    while !Task.isCancelled {
      do throws(MgmtFault) {
        try await AdapterRoster().watch { numbers in
          self.state.withLock { $0.silences = 0 }
          self.take(numbers)
        }
      } catch {
        // The first error does not change the adapters. After the second error in succession, no
        // adapter counts as present.
        let silences = state.withLock { state in
          state.silences += 1
          return state.silences
        }
        if silences > 1 { take([]) }
      }
      guard await Pause.sleep(for: Self.retryInterval) else { return }
    }
  }

  private func chosen(_ numbers: [UInt16]) -> [UInt16] {
    numbers.filter { wanted?.contains($0) ?? true }
  }

  /// Records the adapters that are on.
  private func take(_ numbers: [UInt16]) {
    let names = Dictionary(uniqueKeysWithValues: chosen(numbers).map { ("hci\($0)", $0) })
    let fresh = names.filter { name, _ in state.withLock { $0.radios[name] == nil } }
      .mapValues { makeRadio($0) }
    let gone = state.withLock { state -> [Radio] in
      let gone = state.radios.filter { names[$0.key] == nil }
      for name in gone.keys { state.radios[name] = nil }
      state.radios.merge(fresh) { known, _ in known }
      return Array(gone.values)
    }
    for radio in gone { radio.gone.fulfil(()) }
    for radio in fresh.values { _ = arrived.offer(radio) }
  }

  private func makeRadio(_ number: UInt16) -> Radio {
    Radio(
      number: number, pairing: RadioPairing.agent(.onDemand, of: number, in: session),
      tuner: RadioTuning.tuner(.flashing, of: number, isExplicit: false, in: session))
  }

  /// Compares signal strengths, unless there is only one adapter.
  private func listen() async {
    let radios = state.withLock { $0.radios }
    guard radios.count > 1 else { return }
    session.console.note("scanning on \(names.joined(separator: ", "))")
    await withTaskGroup(of: Void.self) { group in
      for (name, radio) in radios {
        group.addTask { await self.listen(on: name, radio.number) }
      }
    }
  }

  private func listen(on name: String, _ number: UInt16) async {
    do throws(CommandFault) {
      let found = try await BluetoothAir.survey(
        DiscoveryFilter(), adapter: number, for: Self.listening, found: { _ in })
      state.withLock { state in
        for device in found {
          if let address = device.address {
            state.discovered[address, default: [:]][name] = device.rssi
          }
        }
      }
    } catch {
      session.console.note("note: \(name) could not scan; it is used for connections regardless")
    }
  }
}
#endif
