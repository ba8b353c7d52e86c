import OtaflashDelta
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// Complete updates of a simulated device from one image to another, in virtual time.
package struct ImageTrial: Sendable {
  /// The result of an update.
  package struct Finding: Sendable {
    /// The content that was sent.
    package let content: Delivery.Content
    package let bytes: Int
    /// The duration of upload and VERIFY. VERIFY is included to account for bytes that the device
    /// still holds in RAM.
    package let took: Duration
  }

  /// The limit of virtual time for an update. It is sufficient for an image of 8 MiB in packets of
  /// 20 bytes.
  private static let limit = Duration.seconds(7 * 86_400)
  /// The pause before an update, in which a device erases pages ahead, as a multiple of the time to
  /// erase the slot.
  private static let eraseTimes = 2

  private let pair: ImagePair
  private let key: [UInt8]?
  private let flash: FlashMemory

  /// Installs the old image on a device of this profile.
  ///
  /// - Parameter keepsPages: whether the device keeps pages that hold their data. In this case, an
  ///   image that differs from the old image in one byte runs before the old image, so that the
  ///   slot holds the differing image.
  package init(
    _ pair: ImagePair, on profile: SimulationProfile, keepingPages keepsPages: Bool = false,
    key: [UInt8]?
  ) throws(CommandFault) {
    self.pair = pair
    self.key = key
    flash = FlashMemory(size: profile.flashSize)
    var quiet = profile
    quiet.faults = FaultPlan()
    quiet.radio = RadioModel()
    var options = Self.options(key)
    options.patches.policy = .never
    options.mode = .withoutResponse
    for image in keepsPages ? [Self.previous(of: pair.old), pair.old] : [pair.old] {
      _ = try Self.update(quiet, flash, FirmwareUpdate(image: image, options: options))
    }
  }

  private static func previous(of image: FirmwareImage) -> FirmwareImage {
    var bytes = image.bytes
    bytes[bytes.count - 1] ^= 1
    return FirmwareImage(
      name: image.name, format: .binary, bytes: bytes, version: image.version,
      hardware: image.hardware)
  }

  /// Updates a copy of the device over a new link, and returns the result.
  package func sending(
    _ content: Delivery.Content, by setting: LinkBenchmark.Setting, to profile: SimulationProfile
  ) throws(CommandFault) -> Finding {
    var options = Self.options(key)
    options.mode = setting.mode
    options.mtu = setting.mtu
    options.windowLimit = setting.window
    let old = pair.old.bytes
    switch content {
    case .plain: options.patches.policy = .never
    case .compressed: options.patches.bases = BaseFinder.none
    case .difference:
      options.patches.policy = .require
      options.patches.bases = BaseFinder { _ in old }
    }
    let time = Mutex(Duration.zero)
    let update = FirmwareUpdate(image: pair.new, options: options) { event in
      switch event {
      case .stageEnded(.upload, let took), .stageEnded(.verify, let took):
        time.withLock { $0 += took }
      default: break
      }
    }
    let flash = FlashMemory(size: flash.size)
    flash.write(self.flash.read(0..<flash.size), at: 0)
    let result = try Self.update(profile, flash, update)
    let delivery = result.delivery
    return Finding(
      content: delivery?.planned ?? .plain, bytes: delivery?.bytes ?? pair.new.bytes.count,
      took: time.withLock { $0 })
  }

  /// Returns options with which no difference between the two images prevents the update.
  private static func options(_ key: [UInt8]?) -> UpdateOptions {
    var options = UpdateOptions()
    options.key = key
    options.allowsDowngrade = true
    options.allowsOtherHardware = true
    options.allowsUnknown = true
    options.sendsAnyway = true
    return options
  }

  private static func update(
    _ profile: SimulationProfile, _ flash: FlashMemory, _ update: FirmwareUpdate
  ) throws(CommandFault) -> UpdateResult {
    let timeline = VirtualTimeline()
    let board: SimulatedBoard
    do throws(FlashFault) {
      board = try SimulatedBoard(profile: profile, storage: flash, clock: timeline.clock)
    } catch {
      throw .simulation(error.sentence)
    }
    let pages = profile.slotSize / 4096
    let result: Result<UpdateResult, UpdateFault>
    do throws(SimulationFault) {
      result = try timeline.run(limit: limit) { clock in
        await withService {
          await board.run()
        } _: {
          _ = await clock.pause(for: profile.eraseTime * (pages * eraseTimes))
          do throws(UpdateFault) {
            return .success(try await update.run(on: board.dialer, clock: clock))
          } catch {
            return .failure(error)
          }
        }
      }
    } catch {
      throw .simulation("the simulated device did not finish: \(error)")
    }
    do throws(UpdateFault) { return try result.get() } catch { throw .update(error) }
  }
}

extension DeliveryReport {
  fileprivate var planned: Delivery.Content {
    switch content {
    case .image: .plain
    case .compressed: .compressed
    case .difference: .difference
    }
  }
}
