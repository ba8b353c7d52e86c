/// The manifest of a package of MCUboot images in the format of the build systems of Zephyr and nRF
/// Connect SDK. The manifest contains most numbers as strings.
struct DeviceManagerManifest {
  struct File {
    let name: String
    let size: Int?
    let place: MCUbootPlace
    /// The version according to the build system, which is compared with the image's header; `nil`
    /// if not stated.
    let version: MCUbootVersion?
  }

  /// The maximum number of images; no device has more.
  static let imageMaximum = 16

  /// The files in the order of the manifest.
  let files: [File]

  init(_ value: ManifestValue) throws(ManifestFault) {
    guard case .array(let elements) = value["files"] else {
      throw .key(path: "files", wanted: "a list")
    }
    guard !elements.isEmpty else { throw .combination("it contains no firmware") }
    guard elements.count <= Self.imageMaximum else {
      throw .combination("it has more than \(Self.imageMaximum) images")
    }
    guard !elements.contains(where: Self.isSUIT) else { throw .suit }
    var files: [File] = []
    for (number, element) in elements.enumerated() {
      files.append(try Self.file(element, path: "files[\(number)]"))
    }
    self.files = files
  }

  /// Returns whether the entry is for SUIT in nRF Connect SDK: an envelope, or a cache of an
  /// envelope's payloads.
  private static func isSUIT(_ element: ManifestValue) -> Bool {
    element["type"]?.text?.hasPrefix("suit") ?? false
      || element["file"]?.text?.hasSuffix(".suit") ?? false
  }

  private static func file(
    _ element: ManifestValue, path: String
  ) throws(ManifestFault) -> File {
    guard let name = element["file"]?.text else {
      throw .key(path: path + ".file", wanted: "a file name")
    }
    let imageIndex =
      try number(element, ["image_index", "image", "partition"], path: path, in: 0...15) ?? 0
    let slot = try number(element, ["slot"], path: path, in: 0...31)
    let version: MCUbootVersion?
    switch element["version_MCUBOOT"] {
    case .string(let text):
      guard let read = MCUbootVersion(text) else {
        throw .key(path: path + ".version_MCUBOOT", wanted: "a version such as 1.2.3+4")
      }
      version = read
    case nil, .null: version = nil
    default: throw .key(path: path + ".version_MCUBOOT", wanted: "a string")
    }
    return File(
      name: name, size: try number(element, ["size"], path: path, in: 0...Int.max),
      place: MCUbootPlace(imageIndex: imageIndex, slot: slot), version: version)
  }

  /// Returns the value of the first of these keys that exists, which may be a string; `nil` if no
  /// key exists.
  private static func number(
    _ element: ManifestValue, _ keys: [String], path: String, in range: ClosedRange<Int>
  ) throws(ManifestFault) -> Int? {
    guard let key = keys.first(where: { element[$0] != nil }), let value = element[key] else {
      return nil
    }
    guard let number = value.integer, range.contains(number) else {
      throw .key(path: "\(path).\(key)", wanted: "a number in its range")
    }
    return number
  }
}
