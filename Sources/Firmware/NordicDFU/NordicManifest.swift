/// The manifest of a Nordic DFU package: the files of each part (nrfutil, `manifest.json`).
struct NordicManifest {
  struct Part {
    let role: NordicRole
    let binFile: String
    let datFile: String
    /// The sizes of a combined SoftDevice and bootloader; the init packet of Secure DFU also
    /// contains them. `nil` if the manifest states no size.
    let sizes: NordicSizes?
  }

  /// The parts in the order in which a device accepts them; the application is last.
  let parts: [Part]

  /// - Parameter value: the value of the key `manifest`.
  init(_ value: ManifestValue) throws(ManifestFault) {
    guard case .object(let members) = value else {
      throw .key(path: "manifest", wanted: "an object")
    }
    var parts: [Part] = []
    for role in NordicRole.allCases {
      if let member = members[role.rawValue] { parts.append(try Self.part(role, member)) }
    }
    let systems = parts.filter { !$0.role.isApplication }
    guard systems.count <= 1 else {
      throw .combination("SoftDevice and bootloader of one package must be in one file")
    }
    guard !parts.isEmpty else { throw .combination("it contains no firmware") }
    self.parts = systems + parts.filter(\.role.isApplication)
  }

  private static func part(_ role: NordicRole, _ value: ManifestValue) throws(ManifestFault) -> Part
  {
    let path = "manifest.\(role.rawValue)"
    guard let binFile = value["bin_file"]?.text else {
      throw .key(path: path + ".bin_file", wanted: "a file name")
    }
    guard let datFile = value["dat_file"]?.text else {
      throw .key(path: path + ".dat_file", wanted: "a file name")
    }
    return Part(
      role: role, binFile: binFile, datFile: datFile, sizes: try sizes(value, path: path))
  }

  /// Returns the sizes of a combined file; `nil` if no size is stated. Newer tools write the sizes
  /// into `info_read_only_metadata`, older tools next to the file names.
  private static func sizes(
    _ value: ManifestValue, path: String
  ) throws(ManifestFault) -> NordicSizes? {
    let holder = value["info_read_only_metadata"] ?? value
    guard holder["sd_size"] != nil || holder["bl_size"] != nil else { return nil }
    return NordicSizes(
      softdevice: try size(holder, "sd_size", path: path),
      bootloader: try size(holder, "bl_size", path: path))
  }

  private static func size(
    _ holder: ManifestValue, _ key: String, path: String
  ) throws(ManifestFault) -> UInt32 {
    guard let value = holder[key]?.integer, let size = UInt32(exactly: value) else {
      throw .key(path: "\(path).\(key)", wanted: "a number of bytes")
    }
    return size
  }
}
