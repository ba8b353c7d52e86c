import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

/// Updates the device that the dialer connects to, and prints the progress.
public func flash(
  _ image: FirmwareImage, over dialer: Dialer, on clock: any LinkClock
) async throws(UpdateFault) -> UpdateResult {
  let update = FirmwareUpdate(image: image) { event in
    if case .progress(let acknowledged, let total) = event {
      print("\(100 * acknowledged / total) %")
    }
  }
  return try await update.run(on: dialer, clock: clock)
}
