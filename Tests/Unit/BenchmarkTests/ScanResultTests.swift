import OtaflashATT
import OtaflashDevices
import Testing

@Suite struct ScanResultTests {
  /// A UUID of 128 bits does not fit a line of 80 columns next to a name.
  @Test func updateProtocolsAreNamed() throws {
    let smp: BluetoothUUID = "8D53DC1D-1DB7-4CD3-868B-8A527460AA84"
    let result = ScanResult(
      simulated: "C0:FF:EE:00:00:01", name: "door", rssi: -50,
      services: [BluetoothUUID(0x180F), smp, BluetoothUUID(0xFE59)])
    #expect(result.row[3] == "smp nordic-dfu 180F")
  }
}
