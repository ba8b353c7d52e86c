/// The row of a fault code: the values that its faults share unless a fault states its own.
/// `explain` prints the texts; docs/troubleshooting.md and the list in otaflash(1) are generated
/// from these texts.
package struct FaultRow: Sendable {
  /// The meaning of the code: a clause in lower case, without a full stop.
  package let meaning: String
  /// The exit statuses of the faults. The first is the default.
  package let exits: [ExitStatus]
  /// The default of `FaultReport.retryable`.
  package let retryable: Bool
  /// The command in the help line if the remedy of the fault is not a command.
  package let help: KeyPath<FaultContext, String> & Sendable
  /// The causes, the most likely first: sentences, with commands between backticks.
  package let causes: String
  /// The remedy: sentences, with commands between backticks.
  package let remedy: String

  fileprivate init(
    _ exit: ExitStatus, or otherExits: [ExitStatus] = [], retryable: Bool = false,
    help: KeyPath<FaultContext, String> & Sendable = \.again, _ meaning: String, causes: String,
    remedy: String
  ) {
    self.meaning = meaning
    self.exits = [exit] + otherExits
    self.retryable = retryable
    self.help = help
    self.causes = causes
    self.remedy = remedy
  }
}

extension FaultCode {
  /// The row of the code. The switch is exhaustive, so that each new code needs a row.
  package var row: FaultRow {
    switch self {
    case .bug:
      FaultRow(
        .bug, help: \.againVerbose, "an error in otaflash itself; please report it",
        causes: "otaflash detected an internal error. Neither the image nor the device is the "
          + "cause.",
        remedy: "Run the same command again with -vvv, and report its output and the output of "
          + "`otaflash --version`. The device keeps its state, so you can run the same command "
          + "again.")
    // Input.
    case .usage:
      FaultRow(
        .usage, help: \.ownHelp, "the command line is invalid",
        causes: "A word is misspelled, an option belongs to another command, or a value has a "
          + "wrong unit or no unit. Nothing was done.",
        remedy: "The help line names the command's own help, such as `otaflash flash --help`. "
          + "Options may also come from the environment: the variable OTAFLASH_X_Y sets --x-y.")
    case .image:
      FaultRow(
        .malformedInput, help: \.inspectImage,
        "the image or its sidecar file is malformed, or the image does not match its own hash",
        causes: "A download or a copy is incomplete, the format of the file does not match its "
          + "name, or the file is not firmware. Nothing was sent.",
        remedy: "`otaflash image info FILE` shows the recognized content, and the message "
          + "contains the line or the offset. Build or download the file again.")
    case .file:
      FaultRow(
        .missingInput, "a file is missing or unreadable",
        causes: "A relative path is resolved against the directory in which the command runs. The "
          + "file may belong to another user, or the path may refer to a directory.",
        remedy: "The help line lists the directory. In scripts and services, use absolute paths.")
    case .signature:
      FaultRow(
        .malformedInput, help: \.inspectImage, "the image has no valid signature",
        causes: "--key requires a signature. The image has no signature, has a signature over "
          + "other bytes, or is encrypted and cannot be checked. Nothing was sent.",
        remedy: "`otaflash image info FILE` shows the signatures of the image. Sign it with the "
          + "tool of the build system; an image that was changed after it was signed must be "
          + "signed again.")
    case .otherSigner:
      FaultRow(
        .permissionDenied, help: \.inspectImage,
        "the image is signed with a key other than the given key",
        causes: "A development build and a release are often signed with different keys. Nothing "
          + "was sent.",
        remedy: "Set --key to the public half of the key that the device trusts, or use the "
          + "image that was signed with that key.")
    case .keyFile:
      FaultRow(
        .configuration, "the key file contains no key",
        causes: "--key requires a public key in PEM; --key-file requires the device's secret, 16 "
          + "to 64 bytes, raw or as hex digits. These two options are easily confused. A private "
          + "key is refused if a public key is required.",
        remedy: "Check the first line of the file. `openssl pkey -in private.pem -pubout` writes "
          + "the public half of a signing key.")
    case .keyFileExposed:
      FaultRow(
        .permissionDenied, "other users can read the key file",
        causes: "The mode of the file permits its group or all users to read it. Anyone with the "
          + "key can install any firmware on the device.",
        remedy: "Run `chmod 600` on the file. If another user may have read the key, replace it on "
          + "the devices.")
    case .project:
      FaultRow(
        .configuration, or: [.permissionDenied], help: \.showConfiguration,
        "the project file otaflash.toml cannot be used",
        causes: "A key is misspelled, a value is missing, the profile does not exist, or the file "
          + "belongs to another user. Nothing was done.",
        remedy: "The message contains line and column. `otaflash config show` shows the values "
          + "that apply, with their sources.")
    // Refused before the first byte was written.
    case .wrongHardware:
      FaultRow(
        .refusedBeforeWriting, help: \.inspectSubject, "the image is for another board",
        causes: "The image's descriptor, its package or --hardware names one board, and the device "
          + "reports another board. Nothing was written.",
        remedy: "Use the image for this board: `otaflash info -d name:door-01` shows the board of "
          + "the device, and `otaflash image info FILE` shows the board of the image. "
          + "--allow-other-hardware sends the image regardless; use it only if you know that the "
          + "ids are wrong.")
    case .doesNotFit:
      FaultRow(
        .refusedBeforeWriting, help: \.inspectSubject, "the image is larger than the slot",
        causes: "The device reported the size of the slot that receives the image. The usual "
          + "reason is a debug build, or a build for a chip with more flash. Nothing was "
          + "written.",
        remedy: "Build a smaller image. If the file contains the complete flash, select the "
          + "address range of the application with --region.")
    case .downgrade:
      FaultRow(
        .refusedBeforeWriting, help: \.inspectSubject, "the image is older than the running image",
        causes: "The image's version is lower than the running version. Nothing was "
          + "written.",
        remedy: "To send it regardless, add --allow-downgrade. Some bootloaders refuse all older "
          + "images; their devices require a newer image.")
    case .versionUnknown:
      FaultRow(
        .refusedBeforeWriting, or: [.malformedInput], help: \.inspectImage,
        "the version of the image is unknown",
        causes: "The image has no descriptor, no MCUboot header and no sidecar file. Its version "
          + "can neither be compared before the update nor verified after it.",
        remedy: "Set --image-version, or add a sidecar file as a permanent solution: see "
          + "docs/image-descriptor.md. --allow-unknown sends the image without a version.")
    case .hardwareUnknown:
      FaultRow(
        .refusedBeforeWriting, or: [.malformedInput], help: \.inspectImage,
        "the hardware of the image is unknown",
        causes: "The image has no descriptor and no sidecar file that names a board, so otaflash "
          + "cannot refuse a wrong board.",
        remedy: "Set --hardware, or add a sidecar file or a descriptor as a permanent solution: "
          + "see docs/image-descriptor.md. --allow-unknown sends the image without this check.")
    case .imageNotTaken:
      FaultRow(
        .refusedBeforeWriting, help: \.inspectImage,
        "no update protocol of the device supports the image",
        causes: "A device with SMP accepts only MCUboot images, a Nordic bootloader only packages. "
          + "Many builds write several files, and some of them are only for a debugger.",
        remedy: "`otaflash info -d name:door-01` lists the protocols of the device; "
          + "docs/image-formats.md lists the files that each protocol accepts. If the file "
          + "contains a suitable image, the help line extracts it.")
    case .protocolAmbiguous:
      FaultRow(
        .deviceUnavailable, help: \.inspectDevice,
        "several update protocols support the image; choose one with --protocol",
        causes: "The device offers several update services that support the image. otaflash does "
          + "not choose one automatically.",
        remedy: "Choose with --protocol; the help line shows one. If both protocols write the "
          + "same slot, prefer the application's own protocol: its verification is stronger.")
    case .noPatch:
      FaultRow(
        .refusedBeforeWriting, or: [.rejectedByDevice], help: \.inspectDevice,
        "a patch is required, but it cannot be sent, or the device cannot apply it",
        causes: "--delta require is set. This host does not store the running image, or the device "
          + "does not support patches or reports that its running image is damaged.",
        remedy: "Set --base to the release that the device runs, or to a directory that contains "
          + "it. --delta auto sends the image if there is no patch. docs/delta.md describes how "
          + "patches are chosen.")
    // The device's answers.
    case .deviceRefused:
      FaultRow(
        .rejectedByDevice, or: [.refusedBeforeWriting, .protocolBroken], help: \.inspectSubject,
        "the device refused an operation",
        causes: "The application or the bootloader refused the operation. For example, another "
          + "update is in progress, the battery is low, or the device does not support the "
          + "request. The message contains the reason that the device reported.",
        remedy: "Follow the message, wait, and try again. Restart a device that refuses every "
          + "request.")
    case .authorizationRequired:
      FaultRow(
        .permissionDenied, help: \.inspectSubject, "the device requires its key",
        causes: "This device accepts updates only from hosts that have its secret key.",
        remedy: "Store the key in a file that only you can read, and pass the file with "
          + "--key-file. The key itself is never sent; the device receives an HMAC that shows that "
          + "you have the key.")
    case .wrongKey:
      FaultRow(
        .permissionDenied, help: \.inspectSubject, "the key does not match the device",
        causes: "The key file contains the key of another device or another board.",
        remedy: "Find the key of this device. After five wrong keys, the device is locked until it "
          + "restarts.")
    case .deviceLocked:
      FaultRow(
        .permissionDenied, help: \.inspectSubject,
        "the device is locked after too many wrong keys; restart it",
        causes: "Five consecutive keys were wrong, so the device accepts no key until its next "
          + "restart.",
        remedy: "Restart the device, and find the right key before you try again.")
    case .deviceFlashFault:
      FaultRow(
        .rejectedByDevice, help: \.inspectSubject, "the device's flash failed",
        causes: "Even after retries, the device could not erase or write its flash, or the bytes "
          + "that it read back differed from the bytes written. Common reasons are a low supply "
          + "voltage and worn flash.",
        remedy: "Check the supply voltage and try again. A device that fails at the same offset "
          + "each time needs repair.")
    case .noConsole:
      FaultRow(
        .refusedBeforeWriting, help: \.inspectDevice, "the device has no console",
        causes: "The application has neither the Nordic UART Service nor SMP, or it has another "
          + "characteristic for its log. A bootloader has no console.",
        remedy: "`otaflash info -d DEVICE` lists the services. Specify a characteristic that "
          + "notifies text with --characteristic.")
    case .noUpdateService:
      FaultRow(
        .refusedBeforeWriting, or: [.protocolBroken], help: \.inspectDevice,
        "the device has no update service",
        causes: "The connection succeeded, but no service of the device is an update protocol that "
          + "otaflash supports. This may be the wrong device, or the device must first enter its "
          + "update mode.",
        remedy: "`otaflash info -d name:door-01` lists its services. docs/your-device.md "
          + "describes how to add an update service to your own device.")
    case .protocolVersion:
      FaultRow(
        .protocolBroken, help: \.inspectSubject, "the device uses another protocol version",
        causes: "The firmware of the device implements a version of the protocol that this version "
          + "of otaflash does not support.",
        remedy: "Update otaflash. If the device uses an older version, use the otaflash release "
          + "that matches its firmware.")
    case .imageRejected:
      FaultRow(
        .rejectedByDevice, help: \.inspectSubject,
        "the received image does not match, or the bootloader rejected it",
        causes: "The device read the complete image back from its flash, and the CRC32 or the hash "
          + "differs. Another possible cause: the bootloader rejected the image, usually because "
          + "it does not trust the key of the signature. The old image still runs.",
        remedy: "Run the same command again. If it fails again, compare the keys: `otaflash "
          + "image info FILE` shows which key signed the image.")
    case .reverted:
      FaultRow(
        .rejectedByDevice, help: \.inspectDevice,
        "the old image runs again: the bootloader did not start the new image, or reverted it",
        causes: "The bootloader rejected the new image because of its signature or version, or "
          + "because the image is compressed and the bootloader does not decompress images. "
          + "Another possible cause: the bootloader started the image on trial, but the image "
          + "crashed or was not confirmed before a restart.",
        remedy: "The device works, but the new image does not. Before you send the image to other "
          + "devices, observe its start with a debugger or a console.")
    case .oldVersionRuns:
      FaultRow(
        .rejectedByDevice, help: \.inspectDevice, "the device restarted into the old image",
        causes: "The device restarted and reports the same image as before. Its bootloader found "
          + "no update request, or refused the request without reporting a reason.",
        remedy: "`otaflash info -d name:door-01` shows the running image. Check that application "
          + "and bootloader agree on the slot of the new image and on the format of the update "
          + "request.")
    case .differentImageRuns:
      FaultRow(
        .rejectedByDevice, help: \.inspectDevice,
        "the device runs neither the old image nor the new image",
        causes: "The running image is neither the new image nor the previous image. Another "
          + "host is updating the device at the same time, the bootloader started a recovery "
          + "image, or --image-version is wrong.",
        remedy: "`otaflash info -d name:door-01` shows the running image. Set --image-version to "
          + "the version that the application itself reports.")
    case .unreachableAfterActivation:
      FaultRow(
        .linkLostResumable, retryable: true, "the device was not found after its restart",
        causes: "The complete image was sent and the device restarted, but otaflash has received "
          + "no advertisement from the device since the restart. The restart may take longer than "
          + "expected, or the device uses another address, does not use Bluetooth, or has crashed.",
        remedy: "Wait and run the same command again: it checks the running image before it "
          + "sends anything. If the bootloader starts images on trial, a restart of the device "
          + "restores the old image.")
    // The transfer and the link.
    case .blockKeepsFailing:
      FaultRow(
        .rejectedByDevice, help: \.inspectDevice, "a block is still wrong after several attempts",
        causes: "After each attempt, the device reports that it received wrong bytes for the same "
          + "block. The receiver of the device, or its flash at this offset, is faulty.",
        remedy: "Try once more with --restart. If a device fails at the same offset each time, "
          + "contact its maker.")
    case .stalled:
      FaultRow(
        .linkLostResumable, or: [.linkLost], retryable: true, "the device accepts no more data",
        causes: "The link is up, but the device has made no progress for longer than any flash "
          + "operation takes. Its firmware or its flash hangs.",
        remedy: "Restart the device and run the same command: the transfer resumes at the "
          + "device's offset.")
    case .noProgress:
      FaultRow(
        .protocolBroken, help: \.inspectDevice, "the device requests the same offset repeatedly",
        causes: "The device requests the same bytes repeatedly. Its receiver is in a loop, or "
          + "loses the bytes that it receives.",
        remedy: "Restart the device and run the same command. If the error occurs again, try "
          + "--mode with-response, and report the error to the device's maker.")
    case .linkLost:
      FaultRow(
        .linkLost, or: [.linkLostResumable], retryable: true, "the connection was lost",
        causes: "The device went out of range, restarted or lost power, or other radios or USB 3 "
          + "cables cause interference. otaflash has already tried to reconnect.",
        remedy: "Move closer and run the same command. With exit code 75 the transfer resumes at "
          + "the device's offset; with 74 it starts again. `otaflash bench -d name:door-01` "
          + "measures the rate of the link.")
    case .protocolViolation:
      FaultRow(
        .protocolBroken, help: \.inspectDevice, "the device violated a protocol",
        causes: "An answer of the device is not permitted by its protocol or by the Bluetooth "
          + "specification. The message describes the violation.",
        remedy: "Update the device's firmware by other means, or report the violation to the "
          + "device's maker. --capture records the traffic of the link in a file for Wireshark.")
    case .timeLimit:
      FaultRow(
        .linkLostResumable, or: [.linkLost], retryable: true, "the time limit expired",
        causes: "The run made progress, but took longer than --time-limit allows.",
        remedy: "Run the same command again, with a longer --time-limit or without it. With exit "
          + "code 75, the transfer resumes or, if the restart was already requested, the command "
          + "checks which image runs.")
    case .interrupted:
      FaultRow(
        .linkLost, or: [.linkLostResumable, .missingInput], retryable: true, "stopped by a signal",
        causes: "Ctrl-C was pressed, or a service manager ended the process. The device was "
          + "notified.",
        remedy: "Run the same command again. The command reads the state of the device first. "
          + "Then it resumes the transfer or, if the restart was already requested, checks which "
          + "image runs.")
    // Discovery and connection.
    case .noAdapter:
      FaultRow(
        .deviceUnavailable, help: \.doctor, "no Bluetooth adapter can be used",
        causes: "There is no adapter, it is off or blocked, Bluetooth LE is off, or the adapter "
          + "hangs. In a container, the adapters require the network of the host.",
        remedy: "`otaflash doctor` finds the cause and prints a command that fixes the problem.")
    case .deviceNotFound:
      FaultRow(
        .deviceUnavailable, retryable: true, help: \.scan,
        "the device does not answer or advertise",
        causes: "The device is out of range, asleep, off, or connected to another host (connected "
          + "devices do not advertise). Another possible cause: the type of its address (public or "
          + "random) is wrong.",
        remedy: "`otaflash scan --all` lists all devices in range. Append /public or /random to "
          + "the address; disconnect the device from other hosts.")
    case .deviceAmbiguous:
      FaultRow(
        .deviceUnavailable, help: \.scan, "several devices match",
        causes: "More than one device has a matching name. otaflash does not choose one "
          + "automatically.",
        remedy: "The message lists their addresses: use one of them, or a narrower pattern.")
    case .deviceBusy:
      FaultRow(
        .deviceUnavailable, retryable: true, "another process uses the device",
        causes: "Another otaflash, possibly a campaign, is connected to this device or is "
          + "connecting; or the flash file of a simulated device is in use.",
        remedy: "Wait until the other process has ended, or stop it. `otaflash fleet status` shows "
          + "the state of a campaign.")
    case .permission:
      FaultRow(
        .permissionDenied, help: \.doctor, "permission denied by the system or the device",
        causes: "Scanning and pairing require the capability CAP_NET_ADMIN. A device may require "
          + "an encrypted link before it accepts writes.",
        remedy: "`otaflash doctor` names the missing permission and prints the command that "
          + "grants it. If the device refuses, pair first: `otaflash pair -d name:door-01`.")
    case .notPaired:
      FaultRow(
        .permissionDenied, help: \.pair, "the device requires pairing first",
        causes: "The device accepts updates only from paired hosts, and this host has no keys "
          + "for it, or is not allowed to pair.",
        remedy: "Run `otaflash pair -d name:door-01` once. Many devices accept pairing only for "
          + "a short time after a button was pressed.")
    case .pairingFailed:
      FaultRow(
        .permissionDenied, help: \.pair, "pairing failed",
        causes: "The device refused the pairing, its number was not confirmed or was entered "
          + "incorrectly, or the device does not accept pairing at this time.",
        remedy: "Put the device into its pairing mode and try again. A device with a display "
          + "shows the number to enter.")
    case .bondForgotten:
      FaultRow(
        .permissionDenied, help: \.pair, "the device no longer has the keys of a pairing",
        causes: "After the pairing, the device was reset or paired with other hosts, or another "
          + "device uses its address.",
        remedy: "Make sure that the device at this address is yours. Then remove its keys from "
          + "this host with `otaflash unpair -d C0:FF:EE:00:00:01`, and run the same command "
          + "again; the command pairs if the device requires pairing. If bluetoothd created the "
          + "pairing, also remove the pairing from bluetoothd. If a new image is on trial, the "
          + "next restart of the device reverts it, unless the same command confirms it first.")
    case .systemCall:
      FaultRow(
        .systemCall, help: \.doctor, "a system call failed",
        causes: "The kernel refused an operation that should succeed, for example because of a "
          + "driver fault or a limit on this process. The message names the system call.",
        remedy: "`otaflash doctor` checks all requirements. The kernel's log (dmesg) often "
          + "contains details.")
    // Benchmarks with a baseline.
    case .baseline:
      FaultRow(
        .malformedInput, "the baseline of a benchmark is not comparable",
        causes: "The --baseline file contains no measurements, or no measurement with the modes, "
          + "MTUs and intervals of this run.",
        remedy: "Write a new baseline with `otaflash bench -d name:door-01 --json`.")
    case .belowBaseline:
      FaultRow(
        .belowBaseline, "a benchmark is slower than its baseline",
        causes: "The link is slower than before, because of more interference, another adapter, or "
          + "slower firmware on the device.",
        remedy: "Run the benchmark again without interference. The lines above the error name the "
          + "limiting factor.")
    // Campaigns.
    case .campaign:
      FaultRow(
        .configuration,
        "a campaign or its device table is malformed, or changed after its run started",
        causes: "A key is misspelled, a value is out of range, or the file differs from the file "
          + "of the run's plan. Nothing was started.",
        remedy: "The message contains line and column; otaflash-campaign(5) describes every key. "
          + "`otaflash fleet plan campaign.yaml` checks a file. --again abandons a run and "
          + "starts another.")
    case .fleetRun:
      FaultRow(
        .missingInput, "no run or several runs match",
        causes: "No name of a run starts with the given characters, or the names of several "
          + "runs do.",
        remedy: "`otaflash fleet list` lists all runs.")
    case .fleetRunHeld:
      FaultRow(
        .deviceUnavailable, retryable: true, "another process is running a campaign",
        causes: "Only one process at a time can use a store of runs.",
        remedy: "`otaflash fleet status` shows the progress of the run. The commands pause, "
          + "resume, cancel and retry work from any terminal.")
    case .fleetRequest:
      FaultRow(
        .refusedBeforeWriting, or: [.linkLost],
        "a request to a run was refused, or was not answered yet",
        causes: "A finished run cannot be paused, and a run that does not wait cannot be resumed. "
          + "If a process works on the run, that process carries out the requests.",
        remedy: "`otaflash fleet status` shows the state of the run. An unanswered request stays "
          + "stored.")
    case .fleetPaused:
      FaultRow(
        .fleetStopped, retryable: true, "a run is waiting for an operator",
        causes: "A wave requires manual approval, too many devices failed, or an operator paused "
          + "the run.",
        remedy: "Check the state with `otaflash fleet status`. To continue, run `otaflash fleet "
          + "resume` and then the campaign's command; to end the run, run `otaflash fleet cancel`.")
    case .fleetChain:
      FaultRow(
        .malformedInput, "the recorded events of a run were changed",
        causes: "Each event contains the hash of the previous event, and each run contains the "
          + "hash of the previous run. A hash does not match, no event has the hash given to "
          + "`--verify`, or a run was deleted. Another program changed the store, or the disk is "
          + "damaged.",
        remedy: "Do not rely on the report of this run. Find out which program writes to the "
          + "store, then start another run. It does not update a device that already reports the "
          + "new image.")
    case .fleetStore:
      FaultRow(
        .systemCall, or: [.outputFailed, .permissionDenied, .configuration], help: \.doctor,
        "the store of runs cannot be used",
        causes: "The disk is full or read-only, or the store is locked by another program, "
          + "damaged, or created by a later version of otaflash. A step that cannot be recorded is "
          + "not carried out.",
        remedy: "`otaflash doctor` shows the path of the store. Free disk space, and run the same "
          + "command again: the run continues.")
    case .sites:
      FaultRow(
        .deviceUnavailable,
        or: [.configuration, .malformedInput, .permissionDenied, .refusedBeforeWriting],
        "the coordinator or a gateway of many sites cannot work",
        causes: "The message broker cannot be reached or refuses the credentials, another "
          + "coordinator is running, or the credentials or accounts are damaged.",
        remedy: "Check that the servers of the credentials file run. otaflash-coordinator(1) "
          + "describes the credentials; a gateway resumes its work after the next start.")
    // The host.
    case .selfTest:
      FaultRow(
        .selfTestFailed, "a check of the self-test failed",
        causes: "This installation does not work correctly. Files that the program needs are "
          + "damaged or missing, a disk is full, or the program has a bug.",
        remedy: "Run `otaflash self-test` once more, then reinstall the program. If a check "
          + "still fails, report it with the output of `otaflash --version`.")
    case .state:
      FaultRow(
        .configuration, or: [.systemCall, .outputFailed, .permissionDenied], help: \.doctor,
        "the state directory cannot be used",
        causes: "The state directory is $XDG_STATE_HOME/otaflash or ~/.local/state/otaflash. The "
          + "disk is full, the directory belongs to another user (for example, after otaflash ran "
          + "once with sudo), or a file in it is damaged.",
        remedy: "`otaflash doctor` shows the path of the directory and the reason. For a service, "
          + "set XDG_STATE_HOME to a separate directory.")
    case .output:
      FaultRow(
        .outputFailed,
        "standard output, a capture, a plot or a report cannot be written, or would overwrite "
          + "another file",
        causes: "The reader of a pipe has exited, the disk is full, or a file of another kind has "
          + "this name (otaflash keeps that file).",
        remedy: "Choose another name or free disk space. An update in progress has continued: to "
          + "check its state, run its command again.")
    }
  }
}
