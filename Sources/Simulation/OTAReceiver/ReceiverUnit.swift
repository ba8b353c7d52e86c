import OTAReceiver
import OtaflashFirmware
import Synchronization

/// The portable receiver of one boot of a board. Safe to use from any task: one lock guards every
/// call, and with it the callbacks that the receiver makes inside it.
final class ReceiverUnit: Sendable {
  private let machine: Mutex<ReceiverMachine>

  init(
    settings: BoardSettings, running: SlotImage, slot: Int, outcome: BootLoader.Outcome,
    onTrial: Bool, flash: SimulatedFlash, random: SeededRandom,
    confirmTrial: @escaping @Sendable () -> Bool
  ) {
    machine = Mutex(
      ReceiverMachine(
        settings: settings, running: running, slot: slot, outcome: outcome, onTrial: onTrial,
        flash: flash, random: random, confirmTrial: confirmTrial))
  }

  // MARK: What the stack tells it

  func connected() { machine.withLock { ota_receiver_connected($0.receiver) } }

  func disconnected() {
    machine.withLock { machine in
      machine.outgoing.removeAll()
      ota_receiver_disconnected(machine.receiver)
    }
  }

  func controlConfigured(_ value: UInt16) {
    machine.withLock { ota_receiver_control_cccd($0.receiver, value) }
  }

  func statusConfigured(_ value: UInt16) {
    machine.withLock { ota_receiver_status_cccd($0.receiver, value) }
  }

  func controlWritten(_ bytes: [UInt8]) -> UInt8 {
    machine.withLock { ota_receiver_control_write($0.receiver, bytes, UInt32(bytes.count)) }
  }

  func dataWritten(_ bytes: [UInt8], withResponse: Bool) -> UInt8 {
    machine.withLock {
      ota_receiver_data_write($0.receiver, bytes, UInt32(bytes.count), withResponse)
    }
  }

  func status() -> [UInt8] {
    machine.withLock { machine in
      [UInt8](unsafeUninitializedCapacity: Int(OTA_STATUS_SIZE)) { buffer, count in
        guard let base = buffer.baseAddress else {
          preconditionFailure("16 octets have an address")
        }
        ota_receiver_status_read(machine.receiver, base)
        count = Int(OTA_STATUS_SIZE)
      }
    }
  }

  func indicationConfirmed() {
    machine.withLock { ota_receiver_indication_confirmed($0.receiver) }
  }

  // MARK: The main loop

  /// Does what is due. Returns the time after which to poll again, `nil` = after the next event.
  func poll(milliseconds: UInt32) -> Duration? {
    machine.withLock { machine in
      let wait = ota_receiver_poll(machine.receiver, milliseconds)
      return wait == .max ? nil : .milliseconds(Int(wait))
    }
  }

  /// Takes the first thing to send.
  func takeOutgoing() -> ReceiverMachine.Outgoing? {
    machine.withLock { $0.outgoing.isEmpty ? nil : $0.outgoing.removeFirst() }
  }

  /// The flash operation that the receiver waits for.
  var pendingOperation: FlashOperation? { machine.withLock { $0.operation } }

  /// The pending flash operation has ended.
  func flashDone(_ isDone: Bool) {
    machine.withLock { machine in
      machine.operation = nil
      ota_receiver_flash_done(machine.receiver, isDone)
    }
  }

  /// The image to reset into, once ACTIVATE has been carried out.
  var activatedImage: SlotImage? { machine.withLock { $0.activation } }
}
