import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

/// Updates a device within 90 seconds, as one command of the device's queue.
public func flash(
  _ image: FirmwareImage, on peripheral: Peripheral
) async throws(QueueFault<UpdateFault>) -> UpdateResult {
  var options = UpdateOptions()
  options.mode = .withResponse
  options.reconnection = .exponential(attempts: 5)
  options.allowsDowngrade = true
  let update = FirmwareUpdate(image: image, options: options)
  return try await peripheral.perform(update.command.timeLimit(.seconds(90)))
}
