import ArgumentParser
import OtaflashATT
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashGATT

/// Pairs with a device before an attribute requires it.
struct Pair: TargetedCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair",
    abstract: "Pair with a device, and keep the keys.",
    discussion: """
      otaflash flash pairs automatically if a device requires it. This command pairs in advance, \
      and supports passkey entry. Enter the six digits that the device shows, at the terminal or \
      on standard input. Pairing requires CAP_NET_ADMIN and does not work while bluetoothd runs; \
      in this case, use bluetoothctl pair.
      """)

  @OptionGroup var target: DeviceOption

  @Flag(name: .long, help: "Require a pairing with a passkey.")
  var authenticated = false

  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  private struct Outcome: Sendable {
    let security: AttributeSecurity
    let isNew: Bool
    let isKept: Bool
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let destination = try await ResolvedDevice.resolve(
      target.device, in: session, pairing: .always)
    // Fails early if the keys cannot be stored.
    _ = try StateStore.open(session)
    let lock = try destination.lock()
    let result = await destination.withDevice { await pair(destination) }
    lock.release()
    let outcome: Outcome
    do throws(PairFault) { outcome = try result.get() } catch {
      switch error {
      case .connect(let fault): throw .connect(fault)
      case .security(let fault): throw .security(fault)
      }
    }
    printResult(outcome, in: session)
    return .done(
      "paired", devices: [Ending.Device(id: target.device.text, outcome: "paired")])
  }

  private enum PairFault: Error {
    case connect(ConnectFault)
    case security(SecurityFault)
  }

  private func pair(_ destination: ResolvedDevice) async -> Result<Outcome, PairFault> {
    let command = Command<PeripheralTurn, Outcome, PairFault>("pair") {
      (turn) async throws(PairFault) -> Outcome in
      let client: GATTClient
      do throws(ConnectFault) { client = try await turn.connect() } catch {
        throw .connect(error)
      }
      do throws(SecurityFault) {
        try await client.raiseSecurity(
          to: authenticated ? [.encryption, .authentication] : .encryption)
      } catch {
        throw .security(error)
      }
      return await outcome(client, destination)
    }
    return await withPeripheral(destination.dialer, clock: destination.clock) { peripheral in
      do throws(QueueFault<PairFault>) {
        return .success(try await peripheral.perform(command))
      } catch {
        if case .failed(let fault) = error { return .failure(fault) }
        return .failure(.security(.cancelled))
      }
    }
  }

  private func outcome(_ client: GATTClient, _ destination: ResolvedDevice) async -> Outcome {
    let security = client.security
    guard let agent = destination.pairing,
      let device = destination.address.flatMap(BluetoothAddress.init)
    else { return Outcome(security: security, isNew: true, isKept: false) }
    let former = agent.bond(with: device)
    // Without earlier keys, the pairing creates new keys; their distribution is its last step.
    let made = await agent.newBond(
      with: device, within: former == nil ? .seconds(3) : .milliseconds(500))
    return Outcome(
      security: security, isNew: made != nil || former == nil, isKept: (made ?? former) != nil)
  }

  private func printResult(_ outcome: Outcome, in session: Session) {
    let isAuthenticated = outcome.security.contains(.authentication)
    session.console.event(
      "pairing",
      [
        "device": .string(target.device.text), "authenticated": .bool(isAuthenticated),
        "new": .bool(outcome.isNew), "kept": .bool(outcome.isKept),
      ])
    let protection =
      isAuthenticated ? "encrypted and authenticated" : "encrypted, not authenticated (Just Works)"
    session.console.result(
      (outcome.isNew ? "paired  " : "already paired  ") + target.device.text + "  " + protection)
    if !outcome.isKept {
      session.console.note("note: the device stored no keys; pair again on the next connection")
    }
    session.console.result("next:   " + session.command("info", "-d", target.device.text))
  }
}
