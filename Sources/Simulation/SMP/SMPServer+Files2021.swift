import OtaflashWire

/// The file group of mcumgr in 2021 (mynewt-mcumgr, `cmd/fs_mgmt/src/fs_mgmt.c`), which opens and
/// closes the file in each request. A restart discards the state of an upload.
extension SMPServer {
  /// FS_MGMT_UL_CHUNK_SIZE.
  private static let dataMaximum = 512

  mutating func files2021(_ call: SMPCall.Files) throws(SMPServerRefusal) -> Work {
    switch call {
    case .upload(let part): return try take2021(part)
    case .download(let request):
      let work = try read(request)
      openFile = nil
      return work
    case .status, .checksum, .checksumTypes, .close: throw .general(.notSupported)
    }
  }

  private mutating func take2021(_ part: SMPFiles.Upload) throws(SMPServerRefusal) -> Work {
    guard !part.name.isEmpty, part.data.count <= Self.dataMaximum else { throw .general(.invalid) }
    if part.offset == 0 {
      guard let length = part.length else { throw .general(.invalid) }
      upload2021 = (0, length)
    }
    guard var upload = upload2021 else { throw .general(.invalid) }
    guard part.offset == upload.offset else {
      return Work(
        answer: .body(CBORMap(["rc": .integer(3), "off": .integer(upload.offset)])))
    }
    upload.offset += part.data.count
    guard upload.offset <= upload.length else { throw .general(.invalid) }
    let operations = try write2021(part)
    upload2021 = upload.offset == upload.length ? nil : upload
    return Work(
      operations: operations,
      answer: .body(CBORMap(["rc": .integer(0), "off": .integer(upload.offset)])))
  }

  private mutating func write2021(
    _ part: SMPFiles.Upload
  ) throws(SMPServerRefusal) -> [FlashOperation] {
    guard !part.data.isEmpty else { return [] }
    var file = try open(part.name)
    if part.offset == 0 { file.truncate() }
    do throws(FlashDataStore.Full) {
      let written = try file.append(part.data, in: store)
      let (content, rest) = try file.finish(in: store)
      return written + rest + (try store.store(content, at: part.name))
    } catch {
      throw .general(.unknown)
    }
  }
}
