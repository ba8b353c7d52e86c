import Glibc
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashState
import OtaflashUpdate

extension FaultReport {
  /// Describes a fault of a command.
  package init(_ fault: CommandFault, in context: FaultContext) {
    self =
      switch fault {
      case .usage(let message, let command):
        FaultReport(
          .usage, message, why: "The command line is invalid; nothing was done.",
          help: context.help(of: command))
      case .image(let fault): FaultReport(fault, in: context)
      case .file(let fault): FaultReport(fault, in: context)
      case .checksumDiffers(let name, let wanted, let found):
        FaultReport(
          .image, "\(name) has CRC32 \(Text.hex(found)), not \(Text.hex(wanted))",
          why: "The file is another image, or a damaged copy.", help: context.inspectImage)
      case .unproved(let name, let part):
        FaultReport(
          part.fault.code, (part.part == name ? "" : "\(name): ") + "\(part)",
          why: part.fault.explanation, help: context.inspectImage)
      case .notFirmware(let name, let content):
        FaultReport(
          .image, "\(name) is \(content.rawValue), not firmware",
          why: content.advice + " Nothing was sent.",
          help: Self.look(isText: content.isText, context))
      case .patchFile(let name, let path, let patch):
        FaultReport(
          .image, "\(name) is \(patch.name), not firmware",
          why:
            "A patch does not identify its new image. Flash the new image, and specify this file "
            + "with --patch, or the base of the patch with --base. Nothing was sent.",
          help: path.map { context.inspect(image: $0) } ?? context.inspectImage)
      case .readyPatch(let path, let fault):
        FaultReport(
          .image, "\(path) is not a patch for this image: \(fault)",
          why: "Without --patch, otaflash creates a patch if this host stores the running image. "
            + "Nothing was sent.", help: context.inspect(image: path))
      case .identityUnknown(let name, let version, let hardware):
        FaultReport(
          version ? .versionUnknown : .hardwareUnknown,
          "the \(version ? "version" : "hardware") of \(name) is unknown",
          why: "The image has no descriptor and no sidecar file. Set --image-version and "
            + "--hardware.",
          help: context.againSaying(version: version, hardware: hardware), exit: .malformedInput)
      case .imageNotTaken(let offered, let package):
        FaultReport(UpdateFault.imageNotTaken(by: offered), of: package, in: context)
      case .otherBoard(let name, let fault):
        FaultReport(
          .wrongHardware, "'\(name)': \(fault)",
          why: "The bootloader would reject the image after the transfer; nothing was sent.",
          help: context.inspectImage)
      case .verificationKey(let path, let fault):
        FaultReport(
          .keyFile, "\(path): \(fault)",
          why: "--key requires the public half of the signing key, in PEM.",
          help: "head -n 1 -- " + ShellWords.quote(path))
      case .keyFile(let fault): FaultReport(fault, in: context)
      case .update(let fault): FaultReport(fault, in: context)
      case .connect(let fault): FaultReport(fault, in: context)
      case .security(let fault): FaultReport(fault, in: context)
      case .survey(let fault): FaultReport(fault, in: context)
      case .noMatch(let pattern, let waited):
        FaultReport(
          .deviceNotFound, "no device with a name like '\(pattern)' was found",
          why: "No matching device advertised within \(Text.seconds(waited)).", help: context.scan)
      case .noLastDevice:
        FaultReport(
          .deviceNotFound, "there is no last device",
          why: "No device was connected before, or the list of devices was removed or damaged.",
          help: context.scan, retryable: false)
      case .noDeviceNamed(let why, let suggestion):
        FaultReport(
          .usage, "no device was specified", why: why,
          help: suggestion.map { context.again(with: "-d", $0) } ?? context.scan)
      case .noSuchAlias(let word, let nearest, let mayBeDevice):
        FaultReport(
          .usage,
          "'\(word)' is \(mayBeDevice ? "neither a device nor an alias" : "not an alias")"
            + (nearest.map { "; did you mean '\($0)'?" } ?? ""),
          why: (mayBeDevice ? "Write \(DeviceSelector.forms); " : "Nothing was changed; ")
            + "`\(context.program) devices` lists the aliases.", help: context.command(["devices"]))
      case .unknownDevice(let device):
        FaultReport(
          .deviceNotFound, "\(device) is unknown",
          why: "No command or campaign of this user has connected to this device.",
          help: context.command(["devices"]), retryable: false)
      case .aliasRefused(let alias, .taken(let device)):
        FaultReport(
          .usage, "\(alias) already names \(device)",
          why: "An alias can belong to only one device. Nothing was changed.",
          help: context.command(["devices", "unname", alias]) + " && " + context.again)
      case .aliasRefused(let alias, .full(let maximum)):
        FaultReport(
          .usage, "\(alias) cannot be added: there are already \(Text.grouped(maximum)) aliases",
          why: "Nothing was changed.", help: context.command(["devices"]))
      case .ambiguous(let pattern, let matches):
        FaultReport(
          .deviceAmbiguous, "\(matches.count) devices have a name like '\(pattern)'",
          why: "Specify one by its address: " + matches.joined(separator: ", ") + ".",
          help: context.command(["scan", "--name", pattern]))
      case .state(let fault): FaultReport(fault, in: context)
      case .unhealthy(let failed, let command):
        FaultReport(
          .noAdapter, failed == 1 ? "1 check failed" : "\(failed) checks failed",
          why: "This host cannot flash Bluetooth devices; each failed check shows its remedy.",
          help: command)
      case .selfTestFailed(let names, let count):
        FaultReport(
          .selfTest,
          "\(names.count) of \(count) checks failed: " + names.joined(separator: ", "),
          why: "This installation does not work correctly: files that it needs are damaged or "
            + "missing, or the program has a bug. Report it with the output of `\(context.program) "
            + "--version` and `uname -a`.", help: context.again)
      case .simulation(let detail, nil):
        FaultReport(
          .usage, detail, why: "The simulated device was not started.",
          help: context.help(of: "simulate"))
      case .simulation(let detail, let errno?): Self.simulation(detail, errno, in: context)
      case .baseline(let fault): FaultReport(fault, in: context)
      case .belowBaseline(let count, let worst, let wanted):
        FaultReport(
          .belowBaseline,
          count == 1 ? "1 measurement is too slow" : "\(count) measurements are too slow",
          why: "The minimum is \(wanted) of the baseline; the slowest: \(worst).",
          help: context.again)
      case .stopped:
        FaultReport(
          .interrupted, "stopped", why: "No operation was left incomplete.", help: context.again)
      case .output(let errno):
        FaultReport(
          .output, "the output cannot be written: \(SystemError.text(errno))",
          why: SystemError.reasonOfOutput(errno) + ".", help: context.again)
      case .outputFile(let file, let fault): FaultReport(fault, of: file, in: context)
      case .noConsole(let absence):
        FaultReport(
          .noConsole, "the device has no \(absence.wanted)",
          why: absence.candidates.isEmpty
            ? "No characteristic of the device sends values."
            : "These characteristics send values; choose one with --characteristic: "
              + absence.candidates.joined(separator: ", ") + ".",
          help: context.inspectDevice)
      case .project(let fault): FaultReport(fault, in: context)
      case .shortage(let shortage): FaultReport(shortage, in: context)
      case .withoutCampaigns:
        FaultReport(
          .usage, "this otaflash was built without campaigns",
          why: "Campaigns require SQLite and the package trait Fleet.",
          help: "swift build -c release --traits Fleet --product otaflash")
      case .campaign(let fault): fault.report(in: context)
      }
  }

  /// Returns the report of a simulated device whose flash file cannot be used.
  private static func simulation(
    _ detail: String, _ errno: Int32, in context: FaultContext
  ) -> FaultReport {
    let (code, exit, help): (FaultCode, ExitStatus?, String) =
      switch errno {
      case EWOULDBLOCK: (.deviceBusy, nil, context.again)
      case EFBIG where context.arguments.contains { $0.hasPrefix("--flash-file") }:
        (.state, nil, context.help(of: "simulate"))
      case EFBIG: (.state, nil, context.resetSimulation)
      case EACCES, EPERM, EROFS: (.state, .permissionDenied, context.doctor)
      case ENOSPC, EDQUOT: (.state, .outputFailed, context.doctor)
      case ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG, ELOOP: (.state, nil, context.doctor)
      default: (.state, .systemCall, context.doctor)
      }
    return FaultReport(
      code, detail, why: "The simulated device was not started.", help: help, exit: exit)
  }
}
