import OtaflashWire

/// The OS management group, limited to the commands that an update needs.
extension SMPServer {
  /// The size of the echo buffer in a server of 2021, in bytes.
  private static let echoMaximum = 127

  /// Answers an echo request. A server of 2021 answers a string that exceeds the buffer with an
  /// empty string, without an error.
  func echo(_ request: SMPOS.Echo) -> Work {
    let isLost = is2021 && request.text.utf8.count > Self.echoMaximum
    return Work(answer: .body(SMPOS.Echo.Response(isLost ? "" : request.text).body))
  }

  /// The format specifiers of application info (Zephyr, MCUmgr group 0, command 7).
  private static let formats = Set("snrvbmpioa")

  func applicationInfo(_ request: SMPOS.ApplicationInfo) throws(SMPServerRefusal) -> Work {
    guard !is2021 else { throw .general(.notSupported) }
    // Error 2: the format is unknown.
    guard Self.formats.isSuperset(of: request.format ?? "") else { throw .system(2) }
    return Work(answer: .body(SMPOS.ApplicationInfo.Response(output: "Zephyr").body))
  }

  func parameters() throws(SMPServerRefusal) -> Work {
    guard settings.tellsBuffers else { throw .general(.notSupported) }
    let buffers = settings.netBuffers
    return Work(
      answer: .body(
        SMPOS.Parameters.Response(bufferSize: buffers.size, bufferCount: buffers.count).body))
  }

  func bootloaderInformation(
    _ request: SMPOS.BootloaderInfo
  ) throws(SMPServerRefusal) -> Work {
    guard settings.tellsBootloader else { throw .general(.notSupported) }
    guard let query = request.query else {
      return Work(answer: .body(CBORMap(["bootloader": .text("MCUboot")])))
    }
    // Error 3: the query is unknown.
    guard query == SMPOS.BootloaderInfo.modeQuery else { throw .system(3) }
    return Work(
      answer: .body(
        CBORMap([
          "mode": .integer(Int(settings.mode.number)),
          "no-downgrade": settings.forbidsDowngrade ? .boolean(true) : nil,
        ])))
  }
}
