import OtaflashATT
import OtaflashGATT

/// The OTA service in an application with an SMP server, as the Zephyr module adds it (`zephyr`):
/// the receiver reads the running slot as the base of patches, and writes the other slot of the
/// application's image. The service that last started an update owns this slot.
final class OTAModule: Sendable {
  /// The attributes of the service in the table of the application.
  struct Handles: Sendable {
    let control: AttributeHandle
    let data: AttributeHandle
    let status: AttributeHandle
  }

  /// The state of the connection, which a restarted receiver needs again.
  private struct Subscriptions: Sendable {
    var isConnected = false
    var control: UInt16 = 0
    var status: UInt16 = 0
  }

  private let parts: BoardParts
  private let makeReceiver: @Sendable () -> ReceiverMachine
  private let receiver: Shared<ReceiverMachine>
  private let subscriptions = Shared(Subscriptions())
  /// Whether an update over this service has started since the last check.
  private let begun = Shared(false)

  /// - Parameters:
  ///   - record: the boot record of the application's image.
  ///   - confirmTrial: makes the image on trial permanent.
  ///   - isPending: whether the bootloader is requested to start the image in the other slot.
  init(
    of parts: BoardParts, record: BootRecord, isActivation: Bool, random: SeededRandom,
    confirmTrial: @escaping @Sendable () -> Bool, isPending: @escaping @Sendable () -> Bool
  ) {
    self.parts = parts
    let begun = begun
    let make = { @Sendable in
      ReceiverMachine(
        settings: parts.settings, kind: ReceiverOptions(), record: record,
        // MCUboot does not report that it reverted an image.
        outcome: isActivation ? .activated : .normal, flash: parts.flash, random: random,
        // The last page of a slot belongs to MCUboot.
        slotSize: parts.settings.slotSize - parts.settings.layout.pageSize,
        mayBegin: {
          guard !isPending() else { return false }
          begun.withLock { $0 = true }
          return true
        }, confirmTrial: confirmTrial)
    }
    makeReceiver = make
    receiver = Shared(make())
  }

  var service: LocalService {
    .ota(parts.settings, receiver, wake: parts.wake)
  }

  static func handles(in table: AttributeTable) -> Handles {
    Handles(
      control: table.handle(of: DeviceUUID.otaControl), data: table.handle(of: DeviceUUID.otaData),
      status: table.handle(of: DeviceUUID.otaStatus))
  }

  // MARK: Events of the stack

  func received(_ event: GATTServerEvent, _ handles: Handles) {
    subscriptions.withLock { state in
      switch event {
      case .connected: state = Subscriptions(isConnected: true)
      case .disconnected: state = Subscriptions()
      case .configured(_, handles.control, let value): state.control = value.rawValue
      case .configured(_, handles.status, let value): state.status = value.rawValue
      case .configured, .mtuChanged, .confirmed: break
      }
    }
    receiver.withLock { receiver in
      switch event {
      case .connected: receiver.connected()
      case .disconnected: receiver.disconnected()
      case .configured(_, handles.control, let value): receiver.controlConfigured(value.rawValue)
      case .configured(_, handles.status, let value): receiver.statusConfigured(value.rawValue)
      case .confirmed: receiver.indicationConfirmed()
      case .configured, .mtuChanged: break
      }
    }
  }

  // MARK: The main loop

  func poll(
    at now: LinkInstant, _ handles: Handles, over server: GATTServer
  ) -> Duration? {
    let (outgoing, wait) = receiver.withLock { $0.poll(at: now) }
    for item in outgoing {
      switch item {
      case .answer(let bytes): server.indicate(handles.control, bytes)
      case .status(let bytes): server.notify(handles.status, bytes)
      }
    }
    return wait
  }

  var operation: FlashOperation? { receiver.withLock { $0.operation } }

  func flashDone(_ isDone: Bool) { receiver.withLock { $0.flashDone(isDone) } }

  /// The image to start after the reset; set when ACTIVATE is done.
  var activation: SlotImage? { receiver.withLock { $0.activation } }

  // MARK: The slot

  /// Returns whether an update over this service has started since the last call. The SMP server
  /// then discards its upload.
  func takeBegun() -> Bool {
    begun.withLock { begun in
      defer { begun = false }
      return begun
    }
  }

  /// Discards the session and its record, because the SMP server starts to write the slot. A
  /// running flash operation is completed first.
  func giveUpSlot() {
    let state = subscriptions.withLock { $0 }
    let unfinished = receiver.withLock { $0.operation }
    do throws(FlashFault) {
      if let unfinished { try parts.flash.perform(unfinished) }
      for page in parts.settings.layout.metadata { try parts.flash.perform(.erase(page: page)) }
    } catch {
      parts.note(error)
    }
    let make = makeReceiver
    receiver.withLock { receiver in
      receiver = make()
      guard state.isConnected else { return }
      receiver.connected()
      receiver.controlConfigured(state.control)
      receiver.statusConfigured(state.status)
    }
  }
}
