import ArgumentParser
import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

/// What a device offers, and what flashing it would find. Changes nothing on the device.
struct Info: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Tell a device's services, versions, link and update protocol.",
    discussion: """
      With an image, it also tells what flash would do with it. Nothing on the device changes.
      """)

  @Argument(help: "The image to compare with the device, or - for standard input.")
  var image: String?

  @OptionGroup var target: DeviceOption
  @OptionGroup var identity: IdentityOptions
  @OptionGroup var link: LinkOptions
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text, image: image) }
  var captureFile: String? { capture.path }

  func validate() throws { try target.device.check(link) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let firmware = try image.map { path throws(CommandFault) in
      try ImageSource.load(path, saying: identity.identity)
    }
    let destination = try await Destination.resolve(
      target.device, in: session, pairing: .bondsOnly, tuning: link.tuning(else: nil),
      isTuningExplicit: true)
    let result = await destination.withDevice { await inspect(destination) }
    let inspection: Inspection
    do throws(UpdateFault) { inspection = try result.get() } catch { throw .update(error) }
    if let records = recordsIfAny(session) { records.connected(destination) }
    show(inspection, on: session.console)
    if let device = inspection.device { foretell(firmware, on: device, in: session) }
    return .done(
      "described", devices: [Ending.Device(id: target.device.text, outcome: "described")])
  }

  private func foretell(
    _ firmware: FirmwareImage?, on device: DeviceReport, in session: Session
  ) {
    guard let image, let firmware else {
      session.console.note(
        "with an image (" + session.command("info", "IMAGE", "-d", target.device.text)
          + ") this tells what flash would do")
      return
    }
    let forecast = Forecast(firmware, on: device, in: session.context)
    session.console.event("forecast", forecast.members)
    session.console.result(
      "flash would " + forecast.sentence(in: session.console.settings.outputStyle))
    guard case .send = forecast, image != ImageFile.standardInput else { return }
    session.console.result(
      "next:   " + session.command("flash", image, "-d", target.device.text))
  }

  private func inspect(_ destination: Destination) async -> Result<Inspection, UpdateFault> {
    do throws(UpdateFault) {
      return .success(
        try await DeviceInspection().run(on: destination.dialer, clock: destination.clock))
    } catch {
      return .failure(error)
    }
  }

  /// A look at a device must work where nothing can be written.
  private func recordsIfAny(_ session: Session) -> DeviceRecords? {
    do throws(CommandFault) {
      return try DeviceRecords.open(session)
    } catch {
      session.console.note("note: the device was not added to the list", verbosity: 1)
      return nil
    }
  }

  private func show(_ inspection: Inspection, on console: Console) {
    let style = console.settings.outputStyle
    if let device = inspection.device {
      console.event("device", device.members(id: target.device.text, link: inspection.link))
      for slot in device.slots { console.event("slot", slot.members) }
    } else {
      console.event(
        "device",
        [
          "id": .string(target.device.text), "protocol": .null,
          "link": .object(inspection.link.members),
        ])
    }
    var rows = [["device", target.device.text]]
    rows.append(["link", HumanTranscript.facts(inspection.link, in: style)])
    rows += inspection.link.rows
    for (uuid, name) in DeviceInspection.informationStrings {
      guard let value = inspection.deviceInformation[uuid] else { continue }
      rows.append([name, value])
      console.event("information", ["name": .string(name), "value": .string(value)])
    }
    rows += inspection.device?.rows ?? [["protocol", "none that otaflash knows"]]
    for line in Text.table(rows) { console.result(line) }
    for service in inspection.services { show(service, on: console) }
  }

  private func show(_ service: Inspection.Service, on console: Console) {
    console.event(
      "service",
      [
        "uuid": .string(service.uuid.description),
        "characteristics": .array(
          service.characteristics.map { .string($0.uuid.description) }),
      ])
    console.result("service \(service.uuid)")
    for characteristic in service.characteristics {
      console.result("  \(characteristic.uuid)")
    }
  }
}

extension DeviceReport.BootOutcome {
  fileprivate var sentence: String {
    switch self {
    case .normal: "normal"
    case .activated: "into a new image"
    case .rejected: "the new image was rejected or reverted"
    }
  }
}

extension DeviceReport {
  var rows: [[String]] {
    var rows = [["protocol", "\(updateProtocol.rawValue) \(protocolVersion)"]]
    func add(_ name: String, _ value: String?) {
      if let value { rows.append([name, value]) }
    }
    add("hardware", hardware?.description)
    add("running", runningVersion.map { "\($0)" + (onTrial ? " (on trial)" : "") })
    add("last boot", lastBoot?.sentence)
    add("slot", slotSize.map { Text.grouped($0) + " B" })
    add("page", pageSize.map { Text.grouped($0) + " B" })
    add(
      "buffer",
      bufferSize.map { size in
        (bufferCount.map { "\($0) of " } ?? "") + Text.grouped(size) + " B"
      })
    add("boot loader", bootLoaderMode?.words)
    for slot in slots {
      let name =
        slots.contains { $0.image > 0 } ? "slot \(slot.image)/\(slot.slot)" : "slot \(slot.slot)"
      add(name, ([slot.version] + [slot.words].filter { !$0.isEmpty }).joined(separator: ", "))
    }
    add("largest chunk", largestChunk.map { Text.grouped($0) + " B" })
    add("authorization", needsAuthorization ? "wanted (--key-file)" : "not wanted")
    add(
      "resume point",
      resumePoint.map {
        "\(Text.grouped($0.offset)) of \(Text.grouped($0.imageSize)) B, "
          + "crc32 \(Text.hex($0.imageCRC32))"
      } ?? "none")
    return rows
  }
}

extension LinkReport {
  /// What the headline leaves out.
  fileprivate var rows: [[String]] {
    var rows: [[String]] = []
    if let linkLayerPayload { rows.append(["packets", "\(linkLayerPayload) B"]) }
    if let supervisionMilliseconds {
      rows.append([
        "lost after", Text.decimal(Double(supervisionMilliseconds) / 1000) + " s of silence",
      ])
    }
    if let peripheralLatency, peripheralLatency > 0 {
      rows.append(["latency", "\(peripheralLatency) events"])
    }
    return rows
  }
}
