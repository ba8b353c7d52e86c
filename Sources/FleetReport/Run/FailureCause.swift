import OtaflashFleet

/// The cause of a failure and its remedy. Causes with equal kind and code are equal.
package struct FailureCause: Hashable, Sendable {
  package let kind: FailureKind
  package let code: String
  /// The recorded message, for codes without a known title.
  private let text: String

  init(_ failure: AttemptFailure) {
    kind = failure.kind
    code = failure.code
    text = failure.words
  }

  init(_ reason: ReturnReason) {
    kind = reason == .adapterLost ? .infrastructure : .link
    code = reason.rawValue
    text = reason.words
  }

  private init(kind: FailureKind, code: String, text: String? = nil) {
    self.kind = kind
    self.code = code
    self.text = text ?? code
  }

  static func skipped(words: String) -> FailureCause {
    FailureCause(kind: .infrastructure, code: "skipped", text: words)
  }

  static let absent = FailureCause(kind: .link, code: "absent")

  package static func == (left: FailureCause, right: FailureCause) -> Bool {
    left.kind == right.kind && left.code == right.code
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(code)
  }

  /// The failure, as a sentence without a period; for a code without a known title, the recorded
  /// message.
  package var title: String { Self.known[code]?.title ?? text }

  /// The recommended action, as one or two sentences.
  package var remedy: String {
    if let known = Self.known[code] { return known.remedy }
    switch kind {
    case .device: return "Examine one of these devices, then retry them."
    case .link: return "Move an adapter closer to these devices, then retry them."
    case .infrastructure:
      return "Check the host that ran the campaign, then retry these devices."
    }
  }

  private static let nearer =
    "Move an adapter closer or remove metal around the device, then retry the device."
  private static let image = "Check that the campaign names the right image for these boards."
  private static let force = "If this is intended, allow it in the campaign."

  /// The titles and remedies, by the codes of the engine and of the campaign rules.
  private static let known: [String: (title: String, remedy: String)] = [
    "absent": (
      "The device was not found during the run",
      "Check that the device has power and is in range of an adapter, then retry it."
    ),
    "not-heard": ("The device was not found", nearer),
    "skipped": (
      "A hook or a condition of the campaign excluded the device",
      "Read the recorded reason; retry the devices when the reason no longer applies."
    ),
    "hook-not-run": (
      "A hook of the campaign could not be started",
      "Check that the command exists and that the user of the campaign may execute it."
    ),
    "before-device-hook": (
      "The hook before the device failed", "Read the messages of the hook for these devices."
    ),
    "after-device-hook": (
      "The hook after the device failed", "Read the messages of the hook for these devices."
    ),
    "device-busy": (
      "Another program or host used the device",
      "Close other connections to the device, then retry it."
    ),
    "link-lost": ("The link was lost", nearer),
    "attempt-limit": (
      "The attempt took longer than the campaign allows",
      "Check the rates of these devices; a weak link is slow. Otherwise raise the limit."
    ),
    "adapter-lost": (
      "The adapter was disconnected", "Check the adapter's plug, cable and power supply."
    ),
    "no-image": ("The image file was missing", "Restore the image file, then retry the devices."),
    "wrong-hardware": ("The image is for other hardware", image),
    "hardware-unknown": ("The image does not state its hardware", "\(image) \(force)"),
    "does-not-fit": ("The image is larger than the device's slot", image),
    "downgrade": ("The device runs a newer version", force),
    "version-unknown": ("The version of the image or the device is unknown", force),
    "image-not-taken": ("The device does not support this type of image", image),
    "image-rejected": (
      "The device rejected the image",
      "Check that the image is intended for these devices and signed with a key that they trust."
    ),
    "authorization-required": (
      "The device requires a key", "Specify the device's key file in the campaign."
    ),
    "wrong-key": (
      "The key does not match the device", "Specify the key file of these devices in the campaign."
    ),
    "no-update-service": (
      "The device offers no supported update service",
      "Check that the device runs its application with the update service."
    ),
    "protocol-ambiguous": (
      "The device offers several update protocols",
      "Update the device separately, with a specific protocol."
    ),
    "protocol-version": (
      "The device uses an unsupported version of the update protocol",
      "Update the device with a program that supports this version."
    ),
    "refused": ("The device refused the update", "Ask the manufacturer for the reason."),
    "attribute-refused": (
      "The device refused a request", "Check whether the device requires pairing."
    ),
    "reverted": (
      "The device reverted to the old image",
      "The new image did not start correctly on these devices. Examine one before you continue."
    ),
    "old-version-runs": (
      "The device still runs the old image",
      "Restart one of these devices and read its version, then retry it."
    ),
    "different-image-runs": (
      "The device runs another image than the sent image",
      "Check whether another program updates these devices."
    ),
    "unreachable-after-activation": (
      "The device was not found after the new image was activated",
      "Check the device on site: a power cycle or its bootloader may be necessary."
    ),
    "block-keeps-failing": (
      "The device rejected the same block repeatedly",
      "The device's flash may be worn out; retry the device once."
    ),
    "stalled": (
      "The device stopped accepting data", "Restart the device, then retry it."
    ),
    "no-progress": ("The transfer made no progress", nearer),
    "protocol-violation": (
      "The device's answers violate the update protocol",
      "Capture the traffic of one of these devices for its manufacturer."
    ),
  ]
}

/// The devices and attempts of one cause.
package struct FailureGroup: Hashable, Sendable {
  package let cause: FailureCause
  /// The indexes of the devices that ended by this cause.
  package let devices: [Int]
  /// The number of attempts that ended by this cause, on any device.
  package let attempts: Int
  /// The number of devices that had this cause, but now run the image.
  package let overcome: Int

  /// Returns the groups; the cause that affects the most devices is first.
  static func groups(of devices: [DeviceReport]) -> [FailureGroup] {
    var ended: [FailureCause: [Int]] = [:]
    var attempts: [FailureCause: Int] = [:]
    var overcome: [FailureCause: Int] = [:]
    for (index, device) in devices.enumerated() {
      if let cause = device.cause { ended[cause, default: []].append(index) }
      let causes = device.attempts.compactMap(\.cause)
      for cause in causes { attempts[cause, default: 0] += 1 }
      guard device.outcome == .succeeded else { continue }
      for cause in Set(causes) { overcome[cause, default: 0] += 1 }
    }
    return Set(ended.keys).union(attempts.keys).map { cause in
      FailureGroup(
        cause: cause, devices: ended[cause] ?? [], attempts: attempts[cause] ?? 0,
        overcome: overcome[cause] ?? 0)
    }.sorted {
      ($1.devices.count, $1.attempts, $0.cause.code) < (
        $0.devices.count, $0.attempts, $1.cause.code
      )
    }
  }
}
