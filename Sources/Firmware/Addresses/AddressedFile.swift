/// A file format whose data has addresses, and which decodes to one memory range.
package protocol AddressedFile: Sendable {
  associatedtype Fault: AddressedFileFault

  /// The image, from its lowest to its highest address.
  var bytes: [UInt8] { get }
  /// The addresses of the image.
  var layout: AddressLayout { get }

  /// - Parameters:
  ///   - file: the complete file.
  ///   - spanLimit: the maximum number of bytes from the lowest to the highest address.
  ///   - region: the part of the file to use; `nil` for all data except known regions.
  init(decoding file: [UInt8], spanLimit: Int, region: AddressRegion?) throws(Fault)
}

/// The reason why an addressed file was rejected: the format's fault, with the position in the
/// file.
package protocol AddressedFileFault: Error {
  /// The fault of the addresses; `nil` if the file itself is malformed.
  var addresses: AddressFault? { get }
}
