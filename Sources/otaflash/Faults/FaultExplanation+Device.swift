/// The device's answers, the transfer and the link.
extension FaultExplanation {
  static let deviceRefused = FaultExplanation(
    "the device refused an operation",
    causes: """
      The application or the bootloader refused: another update is in progress, the battery is \
      low, or it does not support the request. The message contains the reason of the device.
      """,
    remedy: """
      Follow the message, wait, and try again. Restart a device that refuses every request.
      """)

  static let authorizationRequired = FaultExplanation(
    "the device requires its key",
    causes: "Updates of this device are locked by a secret that it shares with its owner.",
    remedy: """
      Give the secret in a file that only you can read: --key-file. The secret itself is never \
      sent; the device receives an HMAC that proves that you have it.
      """)

  static let wrongKey = FaultExplanation(
    "the key does not match the device",
    causes: "The key file holds the secret of another device or another board.",
    remedy: """
      Find the key of this device. After five wrong keys the device is locked until it restarts.
      """)

  static let deviceLocked = FaultExplanation(
    "the device is locked after too many wrong keys; restart it",
    causes: "Five keys in a row were wrong, so the device accepts none until its next restart.",
    remedy: "Restart the device, and find the right key before you try again.")

  static let deviceFlashFault = FaultExplanation(
    "the device's flash failed",
    causes: """
      The device could not erase or write its flash, or read back other bytes than it had \
      written, also after retries. Common reasons are a low supply voltage and worn flash.
      """,
    remedy: """
      Check the supply voltage and try again. A device that fails at the same offset each time \
      needs repair.
      """)

  static let noUpdateService = FaultExplanation(
    "the device has no update service",
    causes: """
      The connection succeeded, but no service of the device is an update protocol that otaflash \
      supports. It may be another device, or it must first enter its update mode.
      """,
    remedy: """
      `otaflash info -d name:door-01` lists its services. docs/your-device.md describes how to \
      add an update service to your own device.
      """)

  static let protocolVersion = FaultExplanation(
    "the device uses another protocol version",
    causes: """
      The firmware of the device implements a later or an earlier version of the protocol than \
      this otaflash supports.
      """,
    remedy: """
      Update otaflash. If the device is older, use the otaflash that was released with its \
      firmware.
      """)

  static let imageRejected = FaultExplanation(
    "the received image does not match, or the bootloader rejected it",
    causes: """
      The device read the complete image back from its flash, and its CRC32 or hash differs. Or \
      its bootloader checked the image and rejected it, usually because of a signature by a key \
      that it does not trust. The old image still runs.
      """,
    remedy: """
      Run the same command again. If it fails again, compare the keys: `otaflash image info \
      FILE` shows which key signed the image.
      """)

  static let reverted = FaultExplanation(
    "the old image runs again: the bootloader did not start the new one, or reverted it",
    causes: """
      The bootloader rejected the new image because of its signature or version; or it started \
      the image on trial, and the image crashed or was not confirmed before a restart.
      """,
    remedy: """
      The device works; the new image does not. Watch it boot on a debugger or a console before \
      you send it to other devices.
      """)

  static let oldVersionRuns = FaultExplanation(
    "the device restarted into the old image",
    causes: """
      The device restarted, and reports the same image as before. Its bootloader found no \
      request for an update, or refused it without a reason.
      """,
    remedy: """
      `otaflash info -d name:door-01` shows the running image. Check that application and \
      bootloader agree on the slot of the new image and on the way an update is requested.
      """)

  static let differentImageRuns = FaultExplanation(
    "the device runs neither the old image nor the new one",
    causes: """
      The running image is neither the image that was sent nor the one before. Another host \
      updates the device at the same time, its bootloader fell back to a recovery image, or \
      --image-version is wrong.
      """,
    remedy: """
      `otaflash info -d name:door-01` shows the running image. Set --image-version to the \
      version that the application itself reports.
      """)

  static let unreachableAfterActivation = FaultExplanation(
    "the device did not come back",
    causes: """
      The complete image was sent, the device restarted, and otaflash has received no \
      advertisement from it since. The restart may take longer than expected, or the device has \
      another address, has no Bluetooth, or has crashed.
      """,
    remedy: """
      Wait and run the same command again: it checks the running image before it sends \
      anything. If the bootloader starts images on trial, a restart of the device restores the \
      old image.
      """)

  static let blockKeepsFailing = FaultExplanation(
    "a block is still wrong after several attempts",
    causes: """
      The device reports each time that it received other bytes for one block. Its receiver or \
      its flash is faulty at that offset.
      """,
    remedy: """
      Try once more with --restart. If a device fails at the same offset each time, contact its \
      maker.
      """)

  static let stalled = FaultExplanation(
    "the device accepts no more data",
    causes: """
      The link is up, but the device has made no progress for longer than any flash operation \
      lasts. Its firmware or its flash hangs.
      """,
    remedy: """
      Restart the device and run the same command: the transfer resumes at the device's offset.
      """)

  static let noProgress = FaultExplanation(
    "the device repeats one offset",
    causes: """
      The device requests the same bytes again and again. Its receiver is in a loop, or loses \
      the bytes that it receives.
      """,
    remedy: """
      Restart the device and run the same command. If it happens again, try --mode \
      with-response, and report it to the device's maker.
      """)

  static let linkLost = FaultExplanation(
    "the connection was lost",
    causes: """
      The device went out of range, restarted, or lost power; or there is interference, for \
      example from other radios or USB 3 cables. otaflash has already tried to reconnect.
      """,
    remedy: """
      Move closer and run the same command. With exit code 75 the transfer resumes at the \
      device's offset; with 74 it starts again. `otaflash bench -d name:door-01` measures the \
      rate of the link.
      """)

  static let protocolViolation = FaultExplanation(
    "the device violated a protocol",
    causes: """
      An answer of the device is not permitted by its protocol or by the Bluetooth \
      specification. The message describes the violation.
      """,
    remedy: """
      Update the device's firmware by other means, or report it to its maker: --capture writes \
      the traffic of the link to a file for Wireshark.
      """)

  static let timeLimit = FaultExplanation(
    "the time limit expired",
    causes: "The run made progress, but took longer than --time-limit allows.",
    remedy: """
      Run the same command again, with a longer --time-limit or none. Exit code 75: the transfer \
      resumes, or the restart was requested already and the command checks what runs.
      """)

  static let interrupted = FaultExplanation(
    "stopped by a signal",
    causes: """
      Ctrl-C was pressed, or a service manager ended the process. The device was notified.
      """,
    remedy: """
      Run the same command again. It asks the device for its state first, resumes the transfer, \
      or checks what runs if the restart was requested already.
      """)
}
