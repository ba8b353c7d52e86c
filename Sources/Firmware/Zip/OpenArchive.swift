import COtaflashZip

/// What an archive says of one entry.
struct EntryFacts {
  let index: Int
  let name: String
  let size: Int
  let compressedSize: Int
  let method: UInt16
  let isEncrypted: Bool
}

/// An archive that libzip has opened in memory; closed when the value goes.
struct OpenArchive: ~Copyable {
  private let archive: OpaquePointer

  /// The buffer must outlive the value.
  init(_ buffer: UnsafeRawBufferPointer) throws(ZipFault) {
    var error = zip_error_t()
    zip_error_init(&error)
    defer { zip_error_fini(&error) }
    guard
      let source = zip_source_buffer_create(buffer.baseAddress, UInt64(buffer.count), 0, &error)
    else { throw .damaged(Self.text(&error)) }
    // Two readers must not find different files: all that is said twice has to agree.
    guard let archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error) else {
      zip_source_free(source)
      if zip_error_code_zip(&error) == ZIP_ER_EXISTS { throw .nameRepeated }
      throw .damaged(Self.text(&error))
    }
    self.archive = archive
  }

  deinit { zip_discard(archive) }

  var entryCount: Int { Int(zip_get_num_entries(archive, 0)) }

  func facts(of index: Int) throws(ZipFault) -> EntryFacts {
    var status = zip_stat_t()
    zip_stat_init(&status)
    let wanted = UInt64(
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD
        | ZIP_STAT_ENCRYPTION_METHOD)
    guard zip_stat_index(archive, UInt64(index), UInt32(ZIP_FL_ENC_RAW), &status) == 0,
      status.valid & wanted == wanted, let rawName = status.name
    else { throw .damaged("entry \(index + 1) is not described") }
    guard let name = String(validatingCString: rawName) else {
      throw .unsafeName(String(cString: rawName))
    }
    return EntryFacts(
      index: index, name: name, size: Int(clamping: status.size),
      compressedSize: Int(clamping: status.comp_size), method: status.comp_method,
      isEncrypted: status.encryption_method != UInt16(ZIP_EM_NONE))
  }

  /// Reads exactly the bytes that the entry states; the library compares their CRC32 at the end.
  func bytes(of facts: EntryFacts) throws(ZipFault) -> [UInt8] {
    guard let file = zip_fopen_index(archive, UInt64(facts.index), 0) else {
      throw .entryDamaged(name: facts.name, Self.text(zip_get_error(archive)))
    }
    defer { zip_fclose(file) }
    // One more than stated: the read that meets the end is the one that checks.
    var bytes = [UInt8](repeating: 0, count: facts.size + 1)
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        zip_fread(file, buffer.baseAddress.map { $0 + filled }, UInt64(buffer.count - filled))
      }
      guard count >= 0 else {
        throw .entryDamaged(name: facts.name, Self.text(zip_file_get_error(file)))
      }
      if count == 0 { break }
      filled += Int(count)
    }
    guard filled == facts.size else {
      throw .entryDamaged(name: facts.name, "it does not have the \(facts.size) bytes it states")
    }
    return Array(bytes.prefix(filled))
  }

  private static func text(_ error: UnsafeMutablePointer<zip_error_t>?) -> String {
    guard let error, let text = zip_error_strerror(error) else { return "no reason is known" }
    return String(cString: text)
  }
}
