import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import Testing

/// A delivery method that this package does not contain: an image of one value is described instead
/// of sent. The life cycle knows the method only as `UpdateOptions.delivery`.
private struct FillOptions: DeliveryOptions {
  var isRequired = false
  var providesContent: Bool { false }
  var method: DeliveryMethod { .fill }
  var notSupported: DeliveryObstacle { DeliveryObstacle(FillReason.notSupported) }
}

extension DeliveryMethod {
  fileprivate static let fill = DeliveryMethod("fill")
}

private enum FillReason: String, DeliveryReason {
  case notSupported = "not-supported"
  case severalValues = "several-values"
  case refused

  var code: String { rawValue }
  var clause: String { "fill: \(rawValue)" }
  var isVerdictOfDevice: Bool { self == .refused }
  var summary: String { "the image cannot be filled (\(rawValue))" }
  var explanation: String { "Only a fill was allowed." }
  var remedy: Remedy? { .allowWholeImage }
}

/// A session of the protocol of `OwnProtocolTests`, with the delivery method `fill`.
private struct FillingSession: UpdateSession {
  struct Retained: RetainedValue {
    var hasFailed = false
  }

  static let updateProtocol = DropSession.updateProtocol
  static let services = DropSession.services

  let plain: DropSession
  let retained: RetainedState<Retained>

  static func takes(_ image: FirmwareImage) -> Bool { DropSession.takes(image) }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<Retained>
  ) async throws(UpdateFault) -> FillingSession {
    FillingSession(
      plain: try await DropSession.open(on: client, context, RetainedState()), retained: retained)
  }

  var device: DeviceReport {
    var report = plain.device
    if plain.state.features == 1 { report.deliveryMethods = [.fill] }
    return report
  }

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight { try plain.check(image) }

  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    let upload = try await plain.prepare(plan, restart: restart)
    return try await filled(plan.image) ?? upload
  }

  /// Requests the device to fill the image with one value, and returns the upload, which only
  /// reports the progress. Returns `nil` if the image itself must be sent. Throws if the device
  /// refuses, or if the method is required and not possible.
  private func filled(_ image: FirmwareImage) async throws(UpdateFault) -> PreparedUpload? {
    let context = plain.context
    guard let options = context.options.delivery as? FillOptions, plain.state.features == 1 else {
      return nil
    }
    let size = image.bytes.count
    var obstacle: FillReason? = retained.value.hasFailed ? .refused : nil
    if Set(image.bytes).count != 1 { obstacle = .severalValues }
    if let obstacle {
      if options.isRequired { throw .undeliverable(DeliveryObstacle(obstacle)) }
      context.deliver(
        DeliveryReport(
          content: .image, bytes: size, imageSize: size, obstacle: DeliveryObstacle(obstacle)))
      return nil
    }
    do throws(UpdateFault) {
      try await plain.perform(
        .fill, [image.bytes[0]] + littleEndian(UInt32(size)), .prepare)
    } catch .declined {
      retained.update { $0.hasFailed = true }
      throw .undeliverable(DeliveryObstacle(FillReason.refused))
    }
    context.deliver(DeliveryReport(content: .compressed, bytes: 5, imageSize: size))
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      context.sent(5)
      context.acknowledged(size, of: size)
    }
  }

  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict {
    try await plain.verify(image)
  }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    try await plain.activate(images, keeping: current)
  }

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    try await plain.running(expecting: image)
  }
}

/// Tests of a delivery method that a protocol of another program declares. The life cycle can
/// require the method, reports it, and sends the image if the device refuses it, as with patches.
@Suite struct OwnDeliveryTests {
  private static let uniform = FirmwareImage(
    name: "uniform", format: .binary, bytes: [UInt8](repeating: 7, count: 9_000),
    version: FirmwareVersion(1, 3, 0), hardware: .any)

  private static func obstacle(_ reason: FillReason) -> DeliveryObstacle {
    DeliveryObstacle(reason)
  }

  @Test(arguments: [false, true])
  func aDeviceThatSupportsTheMethodReceivesLess(_ isRequired: Bool) throws {
    let run = try DropDevice(features: 1).update(to: Self.uniform, by: [FillingSession.self]) {
      $0.delivery = FillOptions(isRequired: isRequired)
    }
    let result = try run.outcome.get()
    #expect(result.isVerified && result.bytesSent == 5 && result.bytesMade == 9_000)
    #expect(result.delivery?.content == .compressed && result.delivery?.obstacle == nil)
  }

  /// No method was chosen, another method was chosen, or the device does not support the method.
  @Test(arguments: ["none", "patches", "features"])
  func theImageIsSentWithoutTheMethod(_ reason: String) throws {
    let run = try DropDevice(features: reason == "features" ? 0 : 1).update(
      to: Self.uniform, by: [FillingSession.self]
    ) {
      switch reason {
      case "none": break
      case "patches": $0.patches.policy = .auto
      default: $0.delivery = FillOptions()
      }
    }
    let result = try run.outcome.get()
    #expect(result.isVerified && result.bytesSent == 9_000 && result.delivery == nil)
  }

  @Test func theImageFollowsARefusedFillOnce() throws {
    let run = try DropDevice(features: 1, refusesFill: true).update(
      to: Self.uniform, by: [FillingSession.self]
    ) {
      $0.delivery = FillOptions()
    }
    let result = try run.outcome.get()
    #expect(result.isVerified && result.bytesSent == 9_000)
    #expect(result.delivery?.obstacle == Self.obstacle(.refused))
    let given = run.log.all.filter { $0 == .deliveryGivenUp(because: Self.obstacle(.refused)) }
    #expect(given.count == 1)
  }

  @Test func anImageOfSeveralValuesIsSentUnchanged() throws {
    let run = try DropDevice(features: 1).update(to: image(size: 1_000), by: [FillingSession.self])
    {
      $0.delivery = FillOptions()
    }
    #expect(try run.outcome.get().delivery?.obstacle == Self.obstacle(.severalValues))
  }

  @Test func aRequiredMethodEndsTheUpdate() throws {
    let unknown = try DropDevice().update(to: Self.uniform, by: [FillingSession.self]) {
      $0.delivery = FillOptions(isRequired: true)
    }
    #expect(unknown.outcome == .failure(.undeliverable(Self.obstacle(.notSupported))))
    let patches = try DropDevice(features: 1).update(to: Self.uniform, by: [FillingSession.self]) {
      $0.patches.policy = .require
    }
    #expect(patches.outcome == .failure(.noPatch(.notUnderstood)))
    let refused = try DropDevice(features: 1, refusesFill: true).update(
      to: Self.uniform, by: [FillingSession.self]
    ) {
      $0.delivery = FillOptions(isRequired: true)
    }
    let fault = UpdateFault.undeliverable(Self.obstacle(.refused))
    #expect(refused.outcome == .failure(fault) && fault.party == .device && fault.endsTransfer)
    #expect(fault.summary == "the image cannot be filled (refused)")
  }

  /// The obstacles of two methods differ, even if their codes are the same.
  @Test func obstaclesAreComparedWithTheirTypes() {
    #expect(Self.obstacle(.refused).code == PatchObstacle.refused.code)
    #expect(Self.obstacle(.refused) != .patch(.refused))
    #expect(Self.obstacle(.refused).patch == nil)
    #expect(DeliveryObstacle.patch(.refused).patch == .refused)
  }
}
