import OtaflashFirmware

/// Any file is an archive, or is rejected; unpacked data never exceeds the limit.
func fuzzZip(_ bytes: [UInt8]) {
  let limit = 1 << 16
  do throws(ZipFault) {
    let archive = try ZipArchive(decoding: bytes, limit: limit)
    precondition(archive.entries.reduce(0) { $0 + $1.bytes.count } <= limit)
    precondition(archive.entries.count <= ZipArchive.entryMaximum)
    for entry in archive.entries {
      precondition(!entry.name.hasPrefix("/") && !entry.name.contains("..\\"))
    }
  } catch {
    _ = error.description
  }
  do throws(FirmwareFault) {
    let package = try FirmwarePackage.decode(name: "-", bytes: bytes, limit: limit)
    precondition(!package.parts.isEmpty)
  } catch {
    _ = error.description
  }
  do throws(FirmwareFault) {
    let package = try ResourcePackage.decode(name: "-", bytes: bytes, limit: limit)
    precondition(!package.files.isEmpty && package.size <= limit * package.files.count)
    for path in package.files.map(\.path) + package.obsoleteFiles.map(\.path) {
      precondition(path.hasPrefix("/") && !path.contains("/../") && path.utf8.count <= 160)
    }
  } catch {
    _ = error.description
  }
}
