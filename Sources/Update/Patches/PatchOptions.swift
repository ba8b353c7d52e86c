/// The rule for sending a patch or a compressed image instead of the image.
public enum DeltaPolicy: String, Sendable, CaseIterable {
  /// Sends the content with the shortest transfer, or the image itself if no shorter content is
  /// possible.
  case auto
  /// Sends the uncompressed image.
  case never
  /// Sends a patch against the running image; if no patch is possible, the update fails.
  case require
}

/// The delivery of an image as a patch against the running image, or compressed.
public struct PatchOptions: DeliveryOptions {
  /// The rule for sending a patch or a compressed image to a device that supports this method.
  public var policy: DeltaPolicy
  /// The source of base images for patches; `nil` = no source.
  public var bases: BaseFinder?
  /// A prebuilt patch that creates the image. If the patch is not suitable for the device, `policy`
  /// determines how the update continues.
  public var prebuilt: PrebuiltPatch?

  /// Creates options without base images and without a prebuilt patch.
  public init(_ policy: DeltaPolicy = .auto) { self.policy = policy }

  public var method: DeliveryMethod { .patches }
  public var isRequired: Bool { policy == .require }
  public var providesContent: Bool { prebuilt != nil }
  public var notSupported: DeliveryObstacle { .patch(.notUnderstood) }
}

extension DeliveryMethod {
  /// A patch against the running image, or the compressed image.
  public static let patches = DeliveryMethod("patches")
}

extension UpdateOptions {
  /// The patch options in `delivery`. If `delivery` is `nil`, the options have their default
  /// values; if `delivery` contains another method, the options permit no patches.
  public var patches: PatchOptions {
    get {
      guard let delivery else { return PatchOptions() }
      return delivery as? PatchOptions ?? PatchOptions(.never)
    }
    set { delivery = newValue }
  }
}

extension DeviceReport {
  /// Whether the device can create an image from a patch against the running image, or from a
  /// compressed image.
  public var takesPatches: Bool { deliveryMethods.contains(.patches) }
}
