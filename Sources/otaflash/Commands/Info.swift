import ArgumentParser
import OtaflashATT
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

/// Shows a device and the effect of `flash` on it, without changes on the device.
struct Info: TargetedCommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show a device's services, versions, link and update protocol.",
    discussion: """
      With an image, also shows the effect that flash would have. Nothing on the device changes.
      """)

  @Argument(
    help: "The image to compare with the device, or - for standard input.", completion: .file())
  var image: String?

  @OptionGroup var target: DeviceOption
  @OptionGroup var identity: IdentityOptions
  @OptionGroup var addresses: RegionOption
  @OptionGroup var link: LinkOptions
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text, image: image) }
  var captureFile: OutputFile? { capture.file }
  var inputFiles: [String] { image.map(ImageSource.files) ?? [] }

  func validate() throws { try target.device.check(link) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let firmware = try image.map { path throws(CommandFault) in
      let firmware = try ImageSource.loadPackage(
        path, saying: identity.identity, in: addresses.region, session)
      try ImageSource.prove(firmware, signedBy: nil)
      try ImageSource.checkContent(of: firmware)
      return firmware
    }
    let destination = try await ResolvedDevice.resolve(
      target.device, in: session, pairing: .bondsOnly, tuning: link.tuning(else: nil),
      isTuningExplicit: true)
    let records = recordsIfAny(session)
    let inspect = Self.inspection(of: firmware, bases: records?.bases(besides: nil))
    let result = await destination.withDevice { await Self.run(inspect, on: destination) }
    let inspection: Inspection
    do throws(UpdateFault) { inspection = try result.get() } catch { throw .update(error) }
    if let records {
      records.connected(destination, version: inspection.device?.runningVersion)
    }
    show(inspection, on: session.console)
    foretell(inspection, in: session)
    return .done(
      "described", devices: [Ending.Device(id: target.device.text, outcome: "described")])
  }

  /// Returns the inspection, which assumes a key. Another line shows whether the device requires a
  /// key.
  private static func inspection(
    of firmware: FirmwarePackage?, bases: BaseFinder?
  ) -> DeviceInspection {
    var options = UpdateOptions()
    options.key = []
    options.patches.bases = bases
    return DeviceInspection(options: options, images: firmware?.parts ?? [])
  }

  private static func run(
    _ inspection: DeviceInspection, on destination: ResolvedDevice
  ) async -> Result<Inspection, UpdateFault> {
    do throws(UpdateFault) {
      return .success(try await inspection.run(on: destination.dialer, clock: destination.clock))
    } catch {
      return .failure(error)
    }
  }

  /// Prints the effect of `flash`, a line for each image.
  private func foretell(_ inspection: Inspection, in session: Session) {
    guard let image else {
      guard inspection.device != nil else { return }
      session.console.note(
        "to see the effect of flash, add an image: "
          + session.command("info", "IMAGE", "-d", target.device.text))
      return
    }
    var forecasts: [Forecast] = []
    for prospect in inspection.prospects {
      let forecast = Forecast(prospect, on: inspection.device, in: session.context)
      let name = prospect.image.name
      session.console.event(
        "forecast", JSONValue.fields(["name": .string(name)]) + forecast.members)
      session.console.result(
        (inspection.prospects.count > 1 ? "\(name): " : "") + "flash would "
          + forecast.sentence(in: session.console.settings.outputStyle))
      forecasts.append(forecast)
    }
    // One refusal prevents the update of all images.
    guard forecasts.contains(where: \.sends), !forecasts.contains(where: \.refuses),
      image != ImageFile.standardInput
    else { return }
    let words = ["flash", image, "-d", target.device.text] + identity.words + addresses.words
    session.console.result("next:   " + session.context.command(words))
  }

  /// Opens the store; returns `nil` if this fails, because the command must also work without a
  /// writable state directory.
  private func recordsIfAny(_ session: Session) -> StateStore? {
    do throws(CommandFault) {
      return try StateStore.open(session)
    } catch {
      session.console.note("note: the device was not added to the list", verbosity: 1)
      return nil
    }
  }

  private func show(_ inspection: Inspection, on console: Console) {
    let style = console.settings.outputStyle
    if let device = inspection.device {
      console.event(
        "device",
        device.members(id: target.device.text, link: inspection.link)
          + JSONValue.fields([
            "alternative": (inspection.alternative?.updateProtocol.name).map { .string($0) }
          ]))
      let slots = device.smp?.slots ?? inspection.alternative?.smp?.slots ?? []
      for slot in slots { console.event("slot", slot.members) }
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
    rows += inspection.device?.rows ?? [["protocol", "none supported by otaflash"]]
    rows += inspection.alternative?.alternativeRows ?? []
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
  /// The rows of the other protocol of a device, limited to the properties that only this protocol
  /// reports.
  fileprivate var alternativeRows: [[String]] {
    let names = ["hardware", "bootloader", "slot 0", "slot 1", "resume point", "patches"]
    return [["also", "\(updateProtocol.name) \(protocolVersion)"]]
      + rows.filter { names.contains($0[0]) && $0[1] != "none" }
  }

  var rows: [[String]] {
    var rows = [["protocol", "\(updateProtocol.name) \(protocolVersion)"]]
    func add(_ name: String, _ value: String?) {
      if let value { rows.append([name, value]) }
    }
    add("hardware", hardware?.description)
    add("running", runningName.map { $0 + (isOnTrial ? " (on trial)" : "") })
    add("last boot", otaService?.lastBoot.sentence)
    add("slot", slotSize.map { Text.grouped($0) + " B" })
    add("page", (otaService?.pageSize).map { Text.grouped($0) + " B" })
    add(
      "buffer",
      bufferSize.map { size in
        ((smp?.bufferCount).map { "\($0) of " } ?? "") + Text.grouped(size) + " B"
      })
    add("bootloader", smp?.bootloaderMode?.words)
    let slots = smp?.slots ?? []
    for slot in slots {
      let name =
        slots.contains { $0.image > 0 } ? "slot \(slot.image)/\(slot.slot)" : "slot \(slot.slot)"
      add(name, ([slot.version] + [slot.words].filter { !$0.isEmpty }).joined(separator: ", "))
    }
    add("largest chunk", largestChunk.map { Text.grouped($0) + " B" })
    add("authorization", needsAuthorization ? "required (--key-file)" : "not required")
    add(
      "resume point",
      (otaService?.resumePoint).map {
        "\(Text.grouped($0.offset)) of \(Text.grouped($0.imageSize)) B, "
          + "crc32 \(Text.hex($0.imageCRC32))"
      } ?? (otaService?.heldStream).map {
        "\(Text.grouped($0.offset)) of \(Text.grouped($0.stream.size)) B of a patch, "
          + "crc32 \(Text.hex($0.stream.crc32))"
      } ?? "none")
    if takesPatches { add("patches", "supported") }
    return rows
  }
}

extension LinkReport {
  /// The parameters that are not in the headline.
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
