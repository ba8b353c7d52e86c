/// What the user gave, and what is refused before a byte is written.
extension FaultExplanation {
  static let bug = FaultExplanation(
    "an error in otaflash itself; please report it",
    causes: """
      otaflash did something that it must not do, and noticed. Neither the image nor the device \
      is to blame.
      """,
    remedy: """
      Run the same command again with -vvv, and report its output with that of `otaflash \
      --version`. What the device holds is kept; the same command can be tried again.
      """)

  static let usage = FaultExplanation(
    "the command line cannot be understood",
    causes: """
      A word is misspelt, an option belongs to another command, or a value has no unit or the \
      wrong one. Nothing was done.
      """,
    remedy: """
      The help line names the command's own help, such as `otaflash flash --help`. Options may \
      also come from the environment: a variable OTAFLASH_X_Y counts as --x-y.
      """)

  static let image = FaultExplanation(
    "the image or its sidecar file is malformed, or the image is not what its own hash says",
    causes: """
      A download or a copy was cut short, a build wrote another format than its name says, or \
      the file is no firmware at all. Nothing was sent.
      """,
    remedy: """
      `otaflash image info FILE` shows what was understood, and the message tells the line or \
      the offset. Build or fetch the file anew.
      """)

  static let file = FaultExplanation(
    "a file is missing or unreadable",
    causes: """
      The path is looked up from the folder that the command runs in. The file may belong to \
      another user, or be a folder.
      """,
    remedy: "The help line lists what is there. In scripts and services, give whole paths.")

  static let signature = FaultExplanation(
    "the image has no signature that holds",
    causes: """
      --key asks for a signature, and the image has none, has one over other bytes, or is \
      encrypted and cannot be checked. Nothing was sent.
      """,
    remedy: """
      `otaflash image info FILE` tells what the image has. Sign it with the build system's \
      tool; an image that was changed after it was signed has to be signed again.
      """)

  static let otherSigner = FaultExplanation(
    "the image is signed by another key than the one given",
    causes: """
      A development build and a release are often signed with different keys. Nothing was sent.
      """,
    remedy: """
      Give --key the public half of the key that the device trusts, or take the image that was \
      signed with it.
      """)

  static let keyFile = FaultExplanation(
    "the key file holds no key",
    causes: """
      --key wants a public key in PEM; --key-file wants the device's secret, 16 to 64 bytes, \
      raw or as hex digits. The two are easily confused, and a private key is refused where a \
      public one is wanted.
      """,
    remedy: """
      Look at the file's first line. The public half of a signing key is written by `openssl \
      pkey -in private.pem -pubout`.
      """)

  static let keyFileExposed = FaultExplanation(
    "others can read the key file",
    causes: """
      The file's mode lets its group or everybody read it. Who has the key can put any firmware \
      on the device.
      """,
    remedy: """
      `chmod 600` the file. Where somebody may have read it, give the devices another key.
      """)

  static let wrongHardware = FaultExplanation(
    "the image is for another board",
    causes: """
      The image's descriptor, its package or --hardware names a board, and the device says that \
      it is another one. Nothing was written.
      """,
    remedy: """
      Take the image for this board: `otaflash info -d name:door-01` tells which it is, \
      `otaflash image info FILE` what the image is for. --allow-other-hardware sends it all the \
      same; do that only where you know that the ids are wrong.
      """)

  static let doesNotFit = FaultExplanation(
    "the image is larger than the slot",
    causes: """
      The device told the size of the place that an image is received in. A build with debug \
      code, or for a chip with more flash, is the usual reason. Nothing was written.
      """,
    remedy: """
      Build a smaller image. Of a file that holds the whole flash, --region takes the part that \
      is the application's.
      """)

  static let downgrade = FaultExplanation(
    "the image is older than what runs",
    causes: """
      The image's version is lower than the one that the device runs. Nothing was written.
      """,
    remedy: """
      Where you mean it, --allow-downgrade sends it. Some bootloaders refuse an older image \
      all the same; then nothing helps but a newer one.
      """)

  static let versionUnknown = FaultExplanation(
    "nobody says which version the image is",
    causes: """
      The image has no descriptor, no MCUboot header and no sidecar file, so an update could be \
      neither compared before nor proved after.
      """,
    remedy: """
      --image-version says it, or a sidecar file beside the image does, for good: see \
      docs/image-descriptor.md. --allow-unknown goes without.
      """)

  static let hardwareUnknown = FaultExplanation(
    "nobody says which hardware the image is for",
    causes: """
      The image has no descriptor and no sidecar file that names a board, so the wrong board \
      could not be refused.
      """,
    remedy: """
      --hardware says it, or a sidecar file or the descriptor does, for good: see \
      docs/image-descriptor.md. --allow-unknown goes without.
      """)

  static let imageNotTaken = FaultExplanation(
    "none of the device's update protocols can carry the image",
    causes: """
      A device that speaks SMP takes MCUboot images only, a Nordic bootloader packages only. \
      Often the build wrote several files, and this is the one for a debugger.
      """,
    remedy: """
      `otaflash info -d name:door-01` tells what the device speaks, docs/image-formats.md which \
      file each protocol takes. Where the file holds a fitting image, the help line cuts it \
      out.
      """)

  static let protocolAmbiguous = FaultExplanation(
    "several of them can; choose one with --protocol",
    causes: """
      The device offers more than one update service, and the image suits them all. Nothing is \
      picked for you.
      """,
    remedy: """
      Choose with --protocol; the help line shows one. The application's own protocol is the \
      better choice where both lead to the same slot: it proves more.
      """)

  static let noPatch = FaultExplanation(
    "only a patch was wanted, and none can be sent, or the device made no image of it",
    causes: """
      --delta require was given. The image that the device runs is not here, or the device \
      finds it damaged, takes no patches, or would need longer for a patch than for the image.
      """,
    remedy: """
      --base names a file or a folder with the release that the device runs; --delta auto sends \
      the image where no patch can be had. docs/delta.md tells how patches are chosen.
      """)
}
