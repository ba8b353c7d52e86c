/// The device's answers, the transfer and the link.
extension FaultExplanation {
  static let deviceRefused = FaultExplanation(
    "the device refused an operation",
    causes: """
      The device's application or bootloader said no: another update is under way, the battery \
      is low, or it knows no such request. Its own reason stands in the message.
      """,
    remedy: """
      Do what the message says, wait, and try again. A device that refuses everything wants a \
      restart.
      """)

  static let authorizationRequired = FaultExplanation(
    "the device wants a proof of its key",
    causes: "Updates of this device are locked by a secret that it shares with its owner.",
    remedy: """
      Give the secret in a file that you alone can read: --key-file. It is never sent; the \
      device gets a proof that you have it.
      """)

  static let wrongKey = FaultExplanation(
    "the key is not the device's",
    causes: "The proof was made with another secret than the device's, or for another board.",
    remedy: """
      Look for the key of this very device. After five wrong proofs the device is locked until \
      it restarts.
      """)

  static let deviceLocked = FaultExplanation(
    "too many wrong proofs; restart the device",
    causes: "Five proofs in a row were wrong, so the device takes none until its next boot.",
    remedy: "Restart the device, and find the right key before you try again.")

  static let deviceFlashFault = FaultExplanation(
    "the device's flash failed",
    causes: """
      The device could not erase or write its flash, or read other bytes back than it had \
      written, and has tried again by itself. A low supply voltage is a common reason, worn \
      flash another.
      """,
    remedy: """
      Check its supply and try again. A device that fails at the same place each time has to be \
      repaired.
      """)

  static let noUpdateService = FaultExplanation(
    "the device has no update service",
    causes: """
      The device was reached, and none of its services is an update protocol that otaflash \
      knows. It may be another device, or one that has to be put into its update mode first.
      """,
    remedy: """
      `otaflash info -d name:door-01` lists its services. For a device of your own, \
      docs/your-device.md tells how to add one.
      """)

  static let protocolVersion = FaultExplanation(
    "the device speaks another protocol version",
    causes: """
      Its firmware was made for a later or an earlier version of the protocol than this \
      otaflash knows.
      """,
    remedy: """
      Update otaflash. Where the device is the older one, take the otaflash that it was \
      released with.
      """)

  static let imageRejected = FaultExplanation(
    "what the device read back is not what was sent",
    causes: """
      The device read the whole image back from its flash, and its CRC32 or hash is another \
      one; or its bootloader checked the image and refused it: a signature by a key that it \
      does not know, most often. The old image still runs.
      """,
    remedy: """
      Run the same command again. When it happens again, compare the keys: `otaflash image info \
      FILE` shows what signed the image.
      """)

  static let reverted = FaultExplanation(
    "the old image runs again: the bootloader did not start the new one, or went back",
    causes: """
      The bootloader refused the new image (its signature, its version), or started it on \
      trial and it crashed or was not confirmed before a restart.
      """,
    remedy: """
      The device is well; the new image is not. Look at its boot on a debugger or a console \
      before you send it to any other device.
      """)

  static let oldVersionRuns = FaultExplanation(
    "the device restarted into the old image",
    causes: """
      The device came back, and says that it runs what it ran before. Its bootloader found no \
      request for a change, or does not tell why it refused.
      """,
    remedy: """
      `otaflash info -d name:door-01` shows what runs. Check that application and bootloader \
      agree on where an image waits and how a change is asked for.
      """)

  static let differentImageRuns = FaultExplanation(
    "the device runs a third image",
    causes: """
      What runs now is neither the image that was sent nor the one before: somebody else \
      updates the device at the same time, its bootloader fell back to a recovery image, or \
      --image-version said something wrong.
      """,
    remedy: """
      `otaflash info -d name:door-01` tells what runs. Give as --image-version what the \
      application itself tells.
      """)

  static let unreachableAfterActivation = FaultExplanation(
    "the device did not come back",
    causes: """
      The whole image was sent and the device restarted into it, and it was not heard since. It \
      may take longer than expected, have another address or no Bluetooth, or have crashed.
      """,
    remedy: """
      Wait and run the same command again: it looks at what runs before it sends anything. \
      Where the bootloader tries images, a restart of the device brings the old one back.
      """)

  static let blockKeepsFailing = FaultExplanation(
    "a block was sent again and again and is still wrong",
    causes: """
      The device says of one block, each time, that it received other bytes. Its receiver or \
      its flash has a fault at that place.
      """,
    remedy: """
      Try once more with --restart. A device that fails at the same offset each time has to be \
      looked at by its maker.
      """)

  static let stalled = FaultExplanation(
    "the device takes no more data",
    causes: """
      The link stands, and for longer than flash ever takes the device has made no progress. \
      Its firmware hangs, or its flash does.
      """,
    remedy: "Restart the device and run the same command: it goes on where the device stands.")

  static let noProgress = FaultExplanation(
    "the device repeats one offset",
    causes: """
      The device asks for the same bytes again and again. Its receiver is in a loop, or loses \
      what it is sent.
      """,
    remedy: """
      Restart the device and run the same command. Where it happens again, try \
      --mode with-response, and report it to the device's maker.
      """)

  static let linkLost = FaultExplanation(
    "the connection was lost",
    causes: """
      The device went out of range, restarted, or lost its supply; or something else fills the \
      air, other radios and USB 3 cables among it. otaflash has already tried to connect again.
      """,
    remedy: """
      Come closer and run the same command: exit code 75 says that it goes on where the device \
      stands, 74 that it begins anew. `otaflash bench -d name:door-01` measures what the link \
      can carry.
      """)

  static let protocolViolation = FaultExplanation(
    "the device broke a protocol",
    causes: """
      The device answered with something that its protocol or the Bluetooth specification does \
      not permit. The message says what.
      """,
    remedy: """
      Update the device's firmware by other means, or report it to its maker: --capture keeps \
      what crossed the link, for Wireshark.
      """)

  static let timeLimit = FaultExplanation(
    "the time limit ran out",
    causes: "The run took longer than --time-limit allows, although it went on.",
    remedy: """
      Run the same command again, with a longer --time-limit or none. Exit code 75: the transfer \
      resumes, or the restart was requested already and the command checks what runs.
      """)

  static let interrupted = FaultExplanation(
    "stopped by a signal",
    causes: """
      Somebody pressed Ctrl-C, or a service manager ended the process. The device was told.
      """,
    remedy: """
      Run the same command again. It asks the device for its state first, resumes the transfer, \
      or checks what runs if the restart was requested already.
      """)
}
