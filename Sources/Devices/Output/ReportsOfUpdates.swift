import OtaflashConsole
import OtaflashUpdate

extension LinkReport {
  /// The connection interval in milliseconds, for reports; `nil` if unknown.
  package var intervalMilliseconds: Double? { connectionInterval.map { $0 / .milliseconds(1) } }
  package var supervisionMilliseconds: Int? { supervisionTimeout?.inMilliseconds }

  package var members: [JSONValue.Member] {
    JSONValue.fields([
      "mtu": .integer(mtu), "phy": .text(phy?.rawValue),
      "interval_ms": intervalMilliseconds.map { .number($0) },
      "ll_payload": .integer(linkLayerPayload), "latency": .integer(peripheralLatency),
      "supervision_ms": .integer(supervisionMilliseconds),
    ])
  }
}

extension DeviceReport {
  /// The running version, with the build number if there is one: `2.1.3+8`.
  package var runningName: String? {
    runningVersion.map { "\($0)" + ((runningBuild ?? 0) > 0 ? "+\(runningBuild ?? 0)" : "") }
  }

  /// The largest number of image bytes in one write; `nil` for protocols that do not report it.
  package var largestChunk: Int? { otaService?.largestChunk ?? secureDFU?.largestPacket }

  package func members(id: String, link: LinkReport?) -> [JSONValue.Member] {
    JSONValue.fields([
      "id": .string(id), "protocol": .string(updateProtocol.name),
      "protocol_version": .integer(protocolVersion), "hardware": .text(hardware),
      "running": .text(runningVersion), "running_build": .integer(runningBuild.map { Int($0) }),
      "running_crc32": runningCRC32.map { .string(Text.hex($0)) },
      "slot_size": .integer(slotSize), "page_size": .integer(otaService?.pageSize),
      "largest_chunk": .integer(largestChunk), "buffer_size": .integer(bufferSize),
      "needs_authorization": .bool(needsAuthorization),
      "caution": caution.map { .string($0) },
      "takes_patches": takesPatches ? .bool(true) : nil,
      "last_boot": (otaService?.lastBoot).map { .string($0.rawValue) },
      "on_trial": .bool(isOnTrial), "buffer_count": .integer(smp?.bufferCount),
      "boot_loader": (smp?.bootloaderMode).map { .string($0.name) },
      "resume_offset": .integer(otaService?.resumePoint?.offset),
      "held_stream": (otaService?.heldStream).map { held in
        .object(
          JSONValue.fields([
            "octets": .integer(held.stream.size), "crc32": .string(Text.hex(held.stream.crc32)),
            "offset": .integer(held.offset),
          ]))
      },
      "link": link.map { .object($0.members) },
    ])
  }
}

extension MCUbootMode {
  /// The name in JSON.
  package var name: String {
    switch self {
    case .unknown: "unknown"
    case .singleApplication: "single-application"
    case .swapUsingScratch: "swap-using-scratch"
    case .overwriteOnly: "overwrite-only"
    case .swapWithoutScratch: "swap-without-scratch"
    case .directXIP: "direct-xip"
    case .directXIPWithRevert: "direct-xip-with-revert"
    case .ramLoad: "ram-load"
    case .firmwareLoader: "firmware-loader"
    }
  }

  package var words: String {
    switch self {
    case .unknown: "MCUboot, in an unknown mode"
    case .singleApplication: "MCUboot with one slot"
    case .swapUsingScratch, .swapWithoutScratch: "MCUboot, swaps the slots and can revert"
    case .overwriteOnly: "MCUboot, overwrites the old image"
    case .directXIP: "MCUboot, runs the higher version in place"
    case .directXIPWithRevert: "MCUboot, runs images in place and can revert"
    case .ramLoad: "MCUboot, runs the higher version from RAM"
    case .firmwareLoader: "MCUboot with a firmware loader"
    }
  }
}
