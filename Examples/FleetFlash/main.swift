// Updates many devices with one image at the same time, in one process: one task per device, and
// all links on one event loop.
//
//   FleetFlash                                      eight simulated devices, in virtual time
//   FleetFlash IMAGE VERSION ADAPTER DEVICE...      real devices; ADAPTER and DEVICE are addresses
//
// Prints a line for each device when it is done. The exit status is 1 if a device was not updated.

import FoundationEssentials
import Glibc
import OtaflashBlueZ
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate

struct FleetDevice {
  let name: String
  let dialer: Dialer
}

/// The outcome of the update of a device. Not a tuple: in the release configuration, Swift 6.3
/// loses the contents of a tuple that is the result of a child task.
struct FleetOutcome {
  let name: String
  let result: Result<UpdateResult, UpdateFault>
}

/// Updates all devices at the same time, and returns the number of failures.
func flash(_ devices: [FleetDevice], with update: FirmwareUpdate, on clock: any LinkClock) async
  -> Int
{
  await withTaskGroup(of: FleetOutcome.self) { group in
    for device in devices {
      group.addTask {
        do throws(UpdateFault) {
          let result = try await update.run(on: device.dialer, clock: clock)
          return FleetOutcome(name: device.name, result: .success(result))
        } catch {
          return FleetOutcome(name: device.name, result: .failure(error))
        }
      }
    }
    return await group.reduce(into: 0) { failures, device in
      switch device.result {
      case .success(let update):
        let versions = [update.from, update.to].map { $0.map { "\($0)" } ?? "unknown" }
        print(
          "\(device.name): \(versions[0]) -> \(versions[1])\(update.isVerified ? ", verified" : "")"
        )
      case .failure(let fault):
        print("\(device.name): \(fault)")
        failures += 1
      }
    }
  }
}

/// Updates the devices in the arguments over the kernel's Bluetooth, and returns the number of
/// failures.
func flashInTheAir(_ arguments: [String]) async throws -> Int {
  guard arguments.count >= 4, let version = FirmwareVersion(arguments[1]),
    let adapter = BluetoothAddress(arguments[2])
  else { throw UsageError() }
  let devices = try arguments.dropFirst(3).map { name in
    guard let address = BluetoothAddress(name) else { throw UsageError() }
    return FleetDevice(
      name: name, dialer: Dialer(to: address, adapter: adapter, within: .seconds(30)))
  }
  let image = try FirmwareImage.decode(
    name: arguments[0], bytes: [UInt8](try Data(contentsOf: URL(filePath: arguments[0]))),
    overrides: ImageIdentity(version: version))
  return await withTaskExecutorPreference(EventLoop.shared) {
    await flash(devices, with: update(to: image), on: EventLoopClock())
  }
}

/// Updates eight boards in this process, each with its own radio and seed, and returns the number
/// of failures.
func flashSimulated() throws -> Int {
  let image = FirmwareImage(
    name: "example", format: .binary, bytes: (0..<20_000).map { UInt8(truncatingIfNeeded: $0 / 3) },
    version: FirmwareVersion(1, 3, 0), hardware: nil)
  let timeline = VirtualTimeline()
  let boards = try (1...8).map { number in
    let profile = try SimulationProfile(parsing: "fast?loss=1%&seed=\(number)")
    return try SimulatedBoard(profile: profile, clock: timeline.clock)
  }
  return try timeline.run { clock in
    await withTaskGroup { power in
      for board in boards { power.addTask { await board.run() } }
      let devices = boards.enumerated().map { index, board in
        FleetDevice(
          name: "board \(index + 1)",
          dialer: Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() })
      }
      let failures = await flash(devices, with: update(to: image), on: clock)
      power.cancelAll()
      return failures
    }
  }
}

func update(to image: FirmwareImage) -> FirmwareUpdate {
  var options = UpdateOptions()
  // Permits an image without hardware identification, such as the image for the simulated boards.
  options.allowsUnknown = true
  return FirmwareUpdate(image: image, options: options)
}

struct UsageError: Error, CustomStringConvertible {
  let description = "usage: FleetFlash [IMAGE VERSION ADAPTER DEVICE...]"
}

let arguments = Array(CommandLine.arguments.dropFirst())
let failures = try arguments.isEmpty ? flashSimulated() : await flashInTheAir(arguments)
exit(failures == 0 ? 0 : 1)
