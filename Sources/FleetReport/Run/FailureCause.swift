import OtaflashFleet

/// Why something failed, and what helps. Two causes are one where kind and code are.
package struct FailureCause: Hashable, Sendable {
  package let kind: FailureKind
  package let code: String
  /// What was said when it happened, where no words of ours fit.
  private let told: String

  init(_ failure: AttemptFailure) {
    kind = failure.kind
    code = failure.code
    told = failure.words
  }

  init(_ reason: ReturnReason) {
    kind = reason == .adapterLost ? .infrastructure : .link
    code = reason.rawValue
    told = reason.words
  }

  private init(kind: FailureKind, code: String, told: String? = nil) {
    self.kind = kind
    self.code = code
    self.told = told ?? code
  }

  static func skipped(words: String) -> FailureCause {
    FailureCause(kind: .infrastructure, code: "skipped", told: words)
  }

  static let absent = FailureCause(kind: .link, code: "absent")

  package static func == (left: FailureCause, right: FailureCause) -> Bool {
    left.kind == right.kind && left.code == right.code
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(code)
  }

  /// What happened: a sentence without its full stop.
  package var title: String { Self.known[code]?.title ?? told }

  /// What helps: one whole sentence or two.
  package var remedy: String {
    if let known = Self.known[code] { return known.remedy }
    switch kind {
    case .device: return "Look at one of these devices by itself before you try them again."
    case .link: return "Bring an adapter nearer to these devices, then try them again."
    case .infrastructure:
      return "Look at the machine that ran this, then try these devices again."
    }
  }

  private static let nearer =
    "Bring an adapter nearer, or the device out of its metal box, then try it again."
  private static let image = "Check that the campaign names the right image for these boards."
  private static let force = "If that is meant, the campaign has to allow it."

  /// By code, as the engine and the rules name them.
  private static let known: [String: (title: String, remedy: String)] = [
    "absent": (
      "The device was never heard",
      "Check that it has power and is within reach of an adapter, then try it again."
    ),
    "not-heard": ("The device was not heard", nearer),
    "skipped": (
      "A hook of the campaign left the device out",
      "Look at what the hook said; retry the devices when its reason is gone."
    ),
    "hook-not-run": (
      "A hook of the campaign could not be run",
      "Check that the command is there and may be run by whoever runs the campaign."
    ),
    "before-device-hook": (
      "The hook before the device failed", "Look at what the hook said of these devices."
    ),
    "after-device-hook": (
      "The hook behind the device failed", "Look at what the hook said of these devices."
    ),
    "device-busy": (
      "Another program or host held the device",
      "Close what else is connected to it, then try it again."
    ),
    "link-lost": ("The link was lost", nearer),
    "attempt-limit": (
      "The attempt took longer than the campaign allows",
      "Look at the rate of these devices; a weak link is slow. Else raise the limit."
    ),
    "adapter-lost": (
      "The adapter vanished", "Check the adapter's plug, cable and power supply."
    ),
    "no-image": ("The image was not there", "Put the image file back, then try again."),
    "wrong-hardware": ("The image is for other hardware", image),
    "hardware-unknown": ("Nobody knows for which hardware the image is", "\(image) \(force)"),
    "does-not-fit": ("The image is larger than the device's slot", image),
    "downgrade": ("The device runs a newer version", force),
    "version-unknown": ("Nobody knows which version the image or the device has", force),
    "image-not-taken": ("The device takes no image of this kind", image),
    "image-rejected": (
      "The device rejected the image",
      "Check that the image is signed with the key that these devices trust, and for them."
    ),
    "authorization-required": (
      "The device wants a key", "Name the device's key file in the campaign."
    ),
    "wrong-key": (
      "The key is not the device's", "Name the right key file for these devices in the campaign."
    ),
    "no-update-service": (
      "The device offers no update over the air that we know",
      "Check that the application with its update service runs on it."
    ),
    "protocol-ambiguous": (
      "The device offers more than one way to update it", "Update it by itself, with one chosen."
    ),
    "protocol-version": (
      "The device speaks another version of the update protocol",
      "Update it by itself with a program that speaks it."
    ),
    "refused": ("The device refused the update", "Ask the device's maker why it refuses."),
    "attribute-refused": (
      "The device refused a request", "Check whether the device has to be paired first."
    ),
    "reverted": (
      "The device took the image back and runs the old one",
      "The new image does not confirm itself on these devices: look at one before going on."
    ),
    "old-version-runs": (
      "The device still runs the old image",
      "Restart one of these devices and read its version, then try it again."
    ),
    "different-image-runs": (
      "The device runs another image than the one sent", "Ask who else updates these devices."
    ),
    "unreachable-after-activation": (
      "The device did not come back with the new image",
      "Go to the device: it may need its power cycled, or its bootloader."
    ),
    "block-keeps-failing": (
      "The device rejected the same block again and again",
      "Its flash may be worn out; try it once more by itself."
    ),
    "stalled": (
      "The device took no more data", "Restart the device, then try it again."
    ),
    "no-progress": ("The transfer got no further", nearer),
    "protocol-violation": (
      "The device's answers break the update protocol",
      "Capture the traffic of one such device for its maker."
    ),
  ]
}

/// What one cause did.
package struct FailureGroup: Hashable, Sendable {
  package let cause: FailureCause
  /// Devices that ended by it, by their place in the report.
  package let devices: [Int]
  /// Attempts that ended by it, on any device.
  package let attempts: Int
  /// Devices on which it happened, and which run the image all the same.
  package let overcome: Int

  /// The cause of the most devices first.
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
