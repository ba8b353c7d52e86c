import OtaflashFirmware
import OtaflashFleet
import Testing

@Suite struct DeviceRequirementsTests {
  private typealias Pair = (FirmwareVersion?, FirmwareVersion?, Bool)

  @Test(
    arguments: [
      (nil, nil, true), (nil, FirmwareVersion(1, 0, 0), true),
      (FirmwareVersion(1, 2, 0), FirmwareVersion(1, 2, 0), true),
      (FirmwareVersion(1, 2, 0), FirmwareVersion(1, 10, 0), true),
      (FirmwareVersion(1, 2, 0), FirmwareVersion(1, 1, 9), false),
      (FirmwareVersion(1, 2, 0), nil, false),
    ] as [Pair])
  func aMinimumVersionIsRequired(
    _ required: FirmwareVersion?, _ running: FirmwareVersion?, _ isMet: Bool
  ) {
    let refusal = DeviceRequirements(version: required).refusal(running: running)
    #expect((refusal == nil) == isMet, "\(refusal ?? "")")
  }

  private typealias Case = (DeviceRequirements.Battery.Unknown, Int?, Bool)

  @Test(
    arguments: [
      (.proceed, 30, true), (.proceed, 29, false), (.proceed, nil, true), (.refuse, 100, true),
      (.refuse, nil, false),
    ] as [Case])
  func aBatteryLevelIsRequired(
    _ unknown: DeviceRequirements.Battery.Unknown, _ level: Int?, _ isMet: Bool
  ) {
    let requirements = DeviceRequirements(
      battery: DeviceRequirements.Battery(percent: 30, unknown: unknown))
    #expect((requirements.refusal(batteryLevel: level) == nil) == isMet)
    #expect(DeviceRequirements().refusal(batteryLevel: level) == nil)
  }
}
