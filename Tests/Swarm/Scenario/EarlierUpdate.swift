import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// What somebody else has begun on the device before, and may have left unfinished.
public struct EarlierUpdate: Sendable {
  public var image: FirmwareImage
  /// The images that its host keeps.
  public var bases: [[UInt8]]
  public var delta = DeltaPolicy.auto
  public var mode = WriteMode.withResponse
  public var mtu = 512
  /// It is interrupted after that time.
  public var breaksOffAfter: Duration?

  public init(image: FirmwareImage, bases: [[UInt8]]) {
    self.image = image
    self.bases = bases
  }
}

extension Scenario {
  /// The same device in other hands.
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
