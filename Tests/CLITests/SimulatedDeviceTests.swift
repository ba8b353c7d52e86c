import Testing

@testable import otaflash

@Suite struct SimulatedDeviceTests {
  /// Two profiles that differ behind the two hundredth character are two devices.
  @Test func longProfilesDoNotShareAFlashFile() {
    let start = "sim:?" + String(repeating: "errors=1&", count: 30)
    let names = (1...3).map { SimulatedDevice.fileName(start + "seed=\($0)") }
    #expect(Set(names).count == 3)
    #expect(names.allSatisfy { $0.utf8.count <= 220 })
    #expect(SimulatedDevice.fileName("sim:fast") == "fast")
  }
}
