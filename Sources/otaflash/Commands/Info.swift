import ArgumentParser
import OtaflashATT
import OtaflashGATT
import OtaflashUpdate

/// What a device offers, and what flashing it would find. Changes nothing on the device.
struct Info: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Tell a device's services, versions, link and update protocol.")

  @OptionGroup var target: DeviceOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let destination = try await Destination.resolve(target.device, in: session)
    let result = await destination.withDevice { await inspect(destination) }
    let inspection: Inspection
    do throws(UpdateFault) { inspection = try result.get() } catch { throw .update(error) }
    if let records = recordsIfAny(session) { records.connected(destination) }
    show(inspection, on: session.console)
    if inspection.device != nil {
      session.console.result(
        "next:   " + session.command("flash", "IMAGE", "-d", target.device.text, "--dry-run"))
    }
    return .done(
      "described", devices: [Ending.Device(id: target.device.text, outcome: "described")])
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

extension DeviceReport {
  var rows: [[String]] {
    var rows = [["protocol", "\(protocolName) \(protocolVersion)"]]
    func add(_ name: String, _ value: String?) {
      if let value { rows.append([name, value]) }
    }
    add("hardware", hardware?.description)
    add("running", runningVersion.map { "\($0)" + (onTrial ? " (on trial)" : "") })
    add("slot", slotSize.map { Text.grouped($0) + " B" })
    add("buffer", bufferSize.map { Text.grouped($0) + " B" })
    add("largest chunk", largestChunk.map { Text.grouped($0) + " B" })
    add("authorization", needsAuthorization ? "wanted (--key-file)" : "not wanted")
    add(
      "resume point",
      resumePoint.map {
        "\(Text.grouped($0.offset)) of \(Text.grouped($0.imageSize)) B, "
          + "crc32 \(Text.hex($0.imageCRC32))"
      })
    return rows
  }
}
