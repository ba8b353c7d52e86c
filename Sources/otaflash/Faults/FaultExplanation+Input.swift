/// The input, and refusals before the first byte is written.
extension FaultExplanation {
  static let bug = FaultExplanation(
    "an error in otaflash itself; please report it",
    causes: """
      otaflash detected an internal error. Neither the image nor the device is the cause.
      """,
    remedy: """
      Run the same command again with -vvv, and report its output with that of `otaflash \
      --version`. The device keeps its state; the same command can be tried again.
      """)

  static let usage = FaultExplanation(
    "the command line is invalid",
    causes: """
      A word is misspelled, an option belongs to another command, or a value has no unit or a \
      wrong one. Nothing was done.
      """,
    remedy: """
      The help line names the command's own help, such as `otaflash flash --help`. Options may \
      also come from the environment: the variable OTAFLASH_X_Y sets --x-y.
      """)

  static let image = FaultExplanation(
    "the image or its sidecar file is malformed, or the image does not match its own hash",
    causes: """
      A download or a copy is incomplete, the format of the file is not that of its name, or the \
      file is not firmware. Nothing was sent.
      """,
    remedy: """
      `otaflash image info FILE` shows the recognized content, and the message contains the line \
      or the offset. Build or download the file again.
      """)

  static let file = FaultExplanation(
    "a file is missing or unreadable",
    causes: """
      The path is relative to the directory in which the command runs. The file may belong to \
      another user, or be a directory.
      """,
    remedy: "The help line lists the directory. In scripts and services, use absolute paths.")

  static let signature = FaultExplanation(
    "the image has no valid signature",
    causes: """
      --key requires a signature. The image has no signature, has a signature over other bytes, \
      or is encrypted and cannot be checked. Nothing was sent.
      """,
    remedy: """
      `otaflash image info FILE` shows the signatures of the image. Sign it with the tool of the \
      build system; an image that was changed after it was signed must be signed again.
      """)

  static let otherSigner = FaultExplanation(
    "the image is signed by another key than the one given",
    causes: """
      A development build and a release are often signed with different keys. Nothing was sent.
      """,
    remedy: """
      Set --key to the public half of the key that the device trusts, or use the image that was \
      signed with that key.
      """)

  static let keyFile = FaultExplanation(
    "the key file holds no key",
    causes: """
      --key requires a public key in PEM; --key-file requires the device's secret, 16 to 64 \
      bytes, raw or as hex digits. The two are easily confused, and a private key is refused \
      where a public one is required.
      """,
    remedy: """
      Look at the file's first line. `openssl pkey -in private.pem -pubout` writes the public \
      half of a signing key.
      """)

  static let keyFileExposed = FaultExplanation(
    "others can read the key file",
    causes: """
      The mode of the file permits its group or all users to read it. Anyone with the key can \
      put any firmware on the device.
      """,
    remedy: """
      `chmod 600` the file. If another user may have read it, give the devices a new key.
      """)

  static let wrongHardware = FaultExplanation(
    "the image is for another board",
    causes: """
      The image's descriptor, its package or --hardware names one board, and the device reports \
      another. Nothing was written.
      """,
    remedy: """
      Use the image for this board: `otaflash info -d name:door-01` shows the board of the \
      device, `otaflash image info FILE` the board of the image. --allow-other-hardware sends \
      the image regardless; use it only if you know that the ids are wrong.
      """)

  static let doesNotFit = FaultExplanation(
    "the image is larger than the slot",
    causes: """
      The device reported the size of the slot that receives the image. The usual reason is a \
      debug build, or a build for a chip with more flash. Nothing was written.
      """,
    remedy: """
      Build a smaller image. If the file holds the complete flash, select the part of the \
      application with --region.
      """)

  static let downgrade = FaultExplanation(
    "the image is older than the running one",
    causes: """
      The image's version is lower than the one that the device runs. Nothing was written.
      """,
    remedy: """
      --allow-downgrade sends it on purpose. Some bootloaders refuse older images regardless; \
      these devices require a newer image.
      """)

  static let versionUnknown = FaultExplanation(
    "the version of the image is unknown",
    causes: """
      The image has no descriptor, no MCUboot header and no sidecar file. Its version can \
      neither be compared before the update nor verified after it.
      """,
    remedy: """
      Set --image-version, or add a sidecar file as a permanent solution: see \
      docs/image-descriptor.md. --allow-unknown sends the image without a version.
      """)

  static let hardwareUnknown = FaultExplanation(
    "the hardware of the image is unknown",
    causes: """
      The image has no descriptor and no sidecar file that names a board, so otaflash cannot \
      refuse a wrong board.
      """,
    remedy: """
      Set --hardware, or add a sidecar file or a descriptor as a permanent solution: see \
      docs/image-descriptor.md. --allow-unknown sends the image without this check.
      """)

  static let imageNotTaken = FaultExplanation(
    "none of the device's update protocols can carry the image",
    causes: """
      A device with SMP accepts only MCUboot images, a Nordic bootloader only packages. Often \
      the build wrote several files, and this one is for a debugger.
      """,
    remedy: """
      `otaflash info -d name:door-01` lists the protocols of the device; docs/image-formats.md \
      lists the files that each protocol accepts. If the file contains a suitable image, the \
      help line extracts it.
      """)

  static let protocolAmbiguous = FaultExplanation(
    "several update protocols can carry the image; choose one with --protocol",
    causes: """
      The device offers more than one update service, and the image suits all of them. otaflash \
      does not choose one.
      """,
    remedy: """
      Choose with --protocol; the help line shows one. If both protocols write the same slot, \
      prefer the application's own protocol: its verification is stronger.
      """)

  static let noPatch = FaultExplanation(
    "a patch was required, and none can be sent, or the device could not apply it",
    causes: """
      --delta require is set. The image that the device runs is not stored on this host, or the \
      device finds it damaged, does not support patches, or needs longer for a patch than for \
      the image.
      """,
    remedy: """
      --base names a file or a directory with the release that the device runs. --delta auto \
      sends the image if there is no patch. docs/delta.md describes how patches are chosen.
      """)
}
