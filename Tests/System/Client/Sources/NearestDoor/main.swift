import OtaflashBlueZ
import OtaflashGATT

let door: BluetoothUUID = "8d5e0001-1c6b-4f1e-9b6a-2f0c7d3b5a10"
let doorState: BluetoothUUID = "8d5e0002-1c6b-4f1e-9b6a-2f0c7d3b5a10"

let doors = AdvertisementFilter(name: /^Door/, services: [door], rssiMinimum: -90)
try await withTaskExecutorPreference(EventLoop.shared) {
  try await withPeripheral(matching: doors, from: LocalAdapter()) { peripheral in
    let state = try await peripheral.read(doorState, in: door)
    print("The door is \(state == [1] ? "open" : "closed").")
  }
}
