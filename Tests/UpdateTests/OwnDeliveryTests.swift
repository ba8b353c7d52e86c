import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate
import Testing

/// A delivery method that this package does not contain: an image of one value is described, not
/// sent. The life cycle knows it only as `UpdateOptions.delivery`.
private struct FillOptions: DeliveryOptions {
  var isRequired = false
  var providesContent: Bool { false }
  var method: DeliveryMethod { .fill }
  var notSupported: DeliveryObstacle { DeliveryObstacle(FillReason.notSupported) }
}

extension DeliveryMethod {
  static let fill = DeliveryMethod("fill")
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

/// What the session retains.
struct DropRetained: RetainedValue {
  var hasFailedToFill = false
}

extension DropSession {
  /// An image of one value; `nil` = the image itself must be sent.
  func filled(_ image: FirmwareImage) async throws(UpdateFault) -> PreparedUpload? {
    guard let options = context.options.delivery as? FillOptions, state.features == 1 else {
      return nil
    }
    let size = image.bytes.count
    var obstacle: FillReason? = retained.value.hasFailedToFill ? .refused : nil
    if Set(image.bytes).count != 1 { obstacle = .severalValues }
    if let obstacle {
      if options.isRequired { throw .undeliverable(DeliveryObstacle(obstacle)) }
      context.deliver(
        DeliveryReport(
          content: .image, bytes: size, imageSize: size, obstacle: DeliveryObstacle(obstacle)))
      return nil
    }
    do throws(UpdateFault) {
      try await perform(.fill, [image.bytes[0]] + littleEndian(UInt32(size)), .prepare)
    } catch .declined {
      retained.update { $0.hasFailedToFill = true }
      throw .undeliverable(DeliveryObstacle(FillReason.refused))
    }
    context.deliver(DeliveryReport(content: .compressed, bytes: 5, imageSize: size))
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      context.sent(5)
      context.acknowledged(size, of: size)
    }
  }
}

/// A protocol of another program declares a delivery method of its own; the life cycle requires it,
/// reports it, and falls back to the image, as it does with patches.
@Suite struct OwnDeliveryTests {
  private static let uniform = FirmwareImage(
    name: "uniform", format: .binary, bytes: [UInt8](repeating: 7, count: 9_000),
    version: FirmwareVersion(1, 3, 0), hardware: .any)

  private static func obstacle(_ reason: FillReason) -> DeliveryObstacle {
    DeliveryObstacle(reason)
  }

  @Test(arguments: [false, true])
  func aDeviceThatSupportsTheMethodReceivesLess(_ isRequired: Bool) throws {
    let run = try DropDevice(features: 1).update(to: Self.uniform) {
      $0.delivery = FillOptions(isRequired: isRequired)
    }
    let result = try run.outcome.get()
    #expect(result.isVerified && result.bytesSent == 5 && result.bytesMade == 9_000)
    #expect(result.delivery?.content == .compressed && result.delivery?.obstacle == nil)
  }

  /// No method was chosen, or another one, or the device does not support it.
  @Test(arguments: ["none", "patches", "features"])
  func theImageIsSentWithoutTheMethod(_ reason: String) throws {
    let run = try DropDevice(features: reason == "features" ? 0 : 1).update(to: Self.uniform) {
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
    let run = try DropDevice(features: 1, refusesFill: true).update(to: Self.uniform) {
      $0.delivery = FillOptions()
    }
    let result = try run.outcome.get()
    #expect(result.isVerified && result.bytesSent == 9_000)
    #expect(result.delivery?.obstacle == Self.obstacle(.refused))
    let given = run.log.all.filter { $0 == .deliveryGivenUp(because: Self.obstacle(.refused)) }
    #expect(given.count == 1)
  }

  @Test func anImageOfSeveralValuesIsSentAsItIs() throws {
    let run = try DropDevice(features: 1).update(to: image(size: 1_000)) {
      $0.delivery = FillOptions()
    }
    #expect(try run.outcome.get().delivery?.obstacle == Self.obstacle(.severalValues))
  }

  @Test func aRequiredMethodEndsTheUpdate() throws {
    let unknown = try DropDevice().update(to: Self.uniform) {
      $0.delivery = FillOptions(isRequired: true)
    }
    #expect(unknown.outcome == .failure(.undeliverable(Self.obstacle(.notSupported))))
    let patches = try DropDevice(features: 1).update(to: Self.uniform) {
      $0.patches.policy = .require
    }
    #expect(patches.outcome == .failure(.noPatch(.notUnderstood)))
    let refused = try DropDevice(features: 1, refusesFill: true).update(to: Self.uniform) {
      $0.delivery = FillOptions(isRequired: true)
    }
    let fault = UpdateFault.undeliverable(Self.obstacle(.refused))
    #expect(refused.outcome == .failure(fault) && fault.party == .device && fault.endsTransfer)
    #expect(fault.summary == "the image cannot be filled (refused)")
  }

  /// The values of two methods differ, even with the same code.
  @Test func obstaclesAreComparedWithTheirTypes() {
    #expect(Self.obstacle(.refused).code == PatchObstacle.refused.code)
    #expect(Self.obstacle(.refused) != .patch(.refused))
    #expect(Self.obstacle(.refused).patch == nil)
    #expect(DeliveryObstacle.patch(.refused).patch == .refused)
  }
}
