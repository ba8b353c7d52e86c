import OtaflashUpdate

/// The group for the system, as far as an update needs it.
extension SMPServer {
  func parameters() throws(SMPServerRefusal) -> Work {
    guard settings.hasParameters else { throw .general(.notSupported) }
    let buffers = settings.netBuffers
    return Work(
      answer: .body(
        SMPOS.Parameters.Response(bufferSize: buffers.size, bufferCount: buffers.count).body))
  }

  func bootLoaderInformation(
    _ request: SMPOS.BootloaderInfo
  ) throws(SMPServerRefusal) -> Work {
    guard settings.hasBootLoaderInformation else { throw .general(.notSupported) }
    guard let query = request.query else {
      return Work(answer: .body(CBORMap(["bootloader": .text("MCUboot")])))
    }
    // 3: the query is unknown.
    guard query == SMPOS.BootloaderInfo.modeQuery else { throw .system(3) }
    return Work(
      answer: .body(
        CBORMap([
          "mode": .integer(Int(settings.mode.number)),
          "no-downgrade": settings.forbidsDowngrade ? .boolean(true) : nil,
        ])))
  }
}
