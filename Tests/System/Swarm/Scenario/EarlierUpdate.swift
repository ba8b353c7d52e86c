import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// An update that another host started on the device earlier, and may have left incomplete.
public struct EarlierUpdate: Sendable {
  public var image: FirmwareImage
  /// The images that the other host stores.
  public var bases: [[UInt8]]
  public var delta = DeltaPolicy.auto
  public var mode = WriteMode.withResponse
  public var mtu = 512
  /// The time after which the update is interrupted.
  public var breaksOffAfter: Duration?

  public init(image: FirmwareImage, bases: [[UInt8]]) {
    self.image = image
    self.bases = bases
  }
}

extension Scenario {
  /// Returns the update of the same device by another host.
  func scenario(of earlier: EarlierUpdate) -> Scenario {
    var scenario = self
    scenario.image = earlier.image
    scenario.otherImages = []
    scenario.bases = earlier.bases
    scenario.sharedFinder = nil
    scenario.delta = earlier.delta
    scenario.mode = earlier.mode
    scenario.mtu = earlier.mtu
    scenario.cancelAfter = earlier.breaksOffAfter
    scenario.losses = PDULosses()
    scenario.earlier = []
    return scenario
  }
}
