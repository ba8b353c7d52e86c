import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashGATT
import OtaflashUpdate

/// The slots of a device with MCUboot.
struct Slots: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "slots",
    abstract: "Show and change the image slots of a device with SMP.",
    discussion: """
      A device with MCUboot holds two images: the running image, and another image that its \
      bootloader can start. flash performs all steps automatically; these commands perform \
      single steps.
      """,
    subcommands: [SlotsList.self, SlotsTest.self, SlotsConfirm.self, SlotsErase.self])

  @OptionGroup var global: GlobalOptions
}

/// The number of the image that a command concerns.
struct ImageIndexOption: ParsableArguments, Sendable {
  @Option(
    name: .customLong("image"),
    help: ArgumentHelp(
      "The number of the image on a device with several images, such as 1 for a network core.",
      valueName: "number"))
  var number: WholeNumber = 0

  var index: Int { number.value }

  private static let range = 0...15

  func validate() throws {
    guard Self.range.contains(index) else {
      throw ValidationError("--image \(index) is out of range; specify 0 to 15")
    }
  }
}

extension SMPSlots {
  private var changesSomething: Bool {
    switch action {
    case .list: false
    case .test, .confirm, .erase: true
    }
  }

  /// Performs the action on a device, then shows its slots.
  func perform(
    on device: DeviceSelector, outcome: String, in session: Session
  ) async throws(CommandFault) -> Ending {
    let destination = try await ResolvedDevice.resolve(device, in: session)
    // Reading is possible while another process uses the device.
    let lock = changesSomething ? try destination.lock() : nil
    let listing = try await result(on: destination)
    lock?.release()
    listing.show(on: session.console)
    return .done(outcome, devices: [Ending.Device(id: device.text, outcome: outcome)])
  }

  private func result(on destination: ResolvedDevice) async throws(CommandFault) -> Listing {
    let result = await destination.withDevice { () async -> Result<Listing, UpdateFault> in
      do throws(UpdateFault) {
        return .success(try await run(on: destination.dialer, clock: destination.clock))
      } catch {
        return .failure(error)
      }
    }
    do throws(UpdateFault) { return try result.get() } catch { throw .update(error) }
  }
}

extension SMPSlots.Listing {
  private static let columns = ["IMAGE", "SLOT", "VERSION", "STATE", "SIZE", "HASH"]

  func show(on console: Console) {
    let mode = mode.map { JSONValue.string($0.name) }
    console.event("boot_loader", JSONValue.fields(["mode": mode ?? .null]))
    for slot in slots {
      console.event("slot", slot.members + JSONValue.fields(["size": .integer(size(of: slot))]))
    }
    if let words = self.mode?.words { console.result("bootloader: \(words)") }
    guard !slots.isEmpty else { return console.note("no slot holds a valid image") }
    let rows = slots.map { slot in
      [
        "\(slot.image)", "\(slot.slot)", slot.version, slot.words,
        size(of: slot).map { Text.grouped($0) + " B" } ?? "",
        slot.hash.map { Text.hex($0) } ?? "",
      ]
    }
    for line in Text.table([Self.columns] + rows) { console.result(line) }
  }

  private func size(of slot: SlotReport) -> Int? {
    sizes.first { $0.image == slot.image && $0.slot == slot.slot }?.bytes
  }
}

extension SlotReport {
  var members: [JSONValue.Member] {
    JSONValue.fields([
      "image": .integer(image), "slot": .integer(slot), "version": .string(version),
      "hash": hash.map { .string(Text.hex($0)) }, "active": .bool(isActive),
      "confirmed": .bool(isConfirmed), "pending": .bool(isPending),
      "permanent": .bool(isPermanent), "bootable": .bool(isBootable),
    ])
  }

  /// The state of the image, such as `runs, confirmed`, the most important word first.
  var words: String {
    let facts = [
      (isActive, "runs"), (isActive && !isConfirmed, "on trial"), (isConfirmed, "confirmed"),
      (isPending && !isPermanent, "starts on trial at the next restart"),
      (isPending && isPermanent, "starts permanently at the next restart"),
      (!isBootable, "not bootable"),
    ]
    return facts.filter(\.0).map(\.1).joined(separator: ", ")
  }
}
