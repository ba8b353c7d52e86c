/// A file format whose data has addresses: one stretch of memory comes of it.
package protocol AddressedFile: Sendable {
  associatedtype Fault: AddressedFileFault

  /// The image, from its lowest to its highest address.
  var bytes: [UInt8] { get }
  /// Where the image lies.
  var layout: AddressLayout { get }

  /// - Parameters:
  ///   - file: the whole file.
  ///   - spanLimit: the largest number of bytes between lowest and highest address.
  ///   - region: the part of the file that is wanted; `nil` for all but known regions.
  init(decoding file: [UInt8], spanLimit: Int, region: AddressRegion?) throws(Fault)
}

/// Why such a file gives no image: the format's own fault, with the place in the file.
package protocol AddressedFileFault: Error {
  /// What is wrong with the addresses, where nothing is with the file.
  var addresses: AddressFault? { get }
}
