import Glibc
import OtaflashATT
import OtaflashBlueZ
import OtaflashDelta
import OtaflashFirmware
import OtaflashGATT
import OtaflashState
import OtaflashUpdate
import Testing

@testable import OtaflashConsole
@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// A sample of every fault of a command. Each kind has a number in an exhaustive switch, so a new
/// fault requires a new number. With the new count of numbers, `FaultSampleTests` fails until the
/// fault has a sample.
enum FaultSamples {
  static let commands: [CommandFault] = {
    var all = plain
    for errno in [EWOULDBLOCK, EFBIG, EACCES, ENOSPC, ENOENT, EIO] {
      all.append(.simulation("it", errno: errno))
    }
    all += proofs.map {
      CommandFault.unproved(name: "app.bin", PartFault(part: "a.bin", fault: $0))
    }
    all += firmware.map { CommandFault.image(.malformed(path: "a b.bin", $0)) }
    all += imageFiles.map { CommandFault.image($0) }
    all += keyFiles.map { CommandFault.keyFile($0) }
    all += connects.map { CommandFault.connect($0) }
    all += securities.map { CommandFault.security($0) }
    all += surveys.map { CommandFault.survey($0) }
    all += states.map { CommandFault.state($0) }
    all += updates.map { CommandFault.update($0) }
    all += outputs
    all += fleets.map { CommandFault.fleet($0) }
    return all
  }()

  private static let plain: [CommandFault] =
    [
      .usage(message: "there is no command 'flsh'", command: "flash"),
      .checksumDiffers(name: "app.bin", wanted: 1, found: 2),
      .otherBoard(name: "app.bin", .notStated(.vendor)),
      .verificationKey(path: "a key.pem", .privateKey),
      .noMatch(pattern: "do*r", waited: .seconds(5)), .noLastDevice,
      .ambiguous(pattern: "^d", matches: ["C0:FF:EE:00:00:01 (door-01)"]),
      .noDeviceNamed(why: "None.", suggestion: nil),
      .noDeviceNamed(why: "Found: one.", suggestion: "sim:smp?seed=2"),
      .noSuchAlias("door-10", nearest: "door-01"), .noSuchAlias("x", nearest: nil),
      .unknownDevice("C0:FF:EE:00:00:09"),
      .aliasRefused("door-01", .taken(by: "sim:smp")), .aliasRefused("a", .full(maximum: 9)),
      .selfTestFailed(["SMP", "wrong key"], of: 13),
      .unhealthy(failed: 2, command: "rfkill unblock bluetooth"),
      .noConsole(ConsoleAbsence(wanted: "SMP service", candidates: ["2A37"])),
      .noConsole(ConsoleAbsence(wanted: "SMP service", candidates: [])),
      .project(.foreignOwner(path: "/p/otaflash.toml")), .project(.noFile(profile: "rig")),
      .project(.noSuchProfile("rig", path: "/p/otaflash.toml", known: ["desk"])),
      .project(.noSuchProfile("rig", path: "/p/otaflash.toml", known: [])),
      .project(.malformed(FilePassage(path: "/p/otaflash.toml", line: 2, column: 3, words: "x"))),
      .project(.unreadable(.unreadable(path: "/p/otaflash.toml", errno: EACCES))),
      .withoutCampaigns,
      .belowBaseline(count: 1, worst: "x at 50%", wanted: Percentage(90)),
      .stopped,
      .simulation("no such profile"), .output(errno: EPIPE),
      .shortage(.descriptors(free: 3, needed: 20)),
      .shortage(.addressSpace(limit: 1 << 20, needed: 1 << 28)),
      .baseline(.file(.missing(path: "b.json"))), .baseline(.malformed(path: "b")),
      .baseline(.nothingInCommon(path: "b")), .notFirmware(name: "page.bin", .html),
      .identityUnknown(name: "app.bin", version: true, hardware: false),
      .identityUnknown(name: "app.bin", version: false, hardware: true),
      .identityUnknown(name: "app.bin", version: true, hardware: true),
    ] + [package].map { .imageNotTaken(by: [.smp], $0) } + patchFiles + readyPatches

  private static let readyPatches: [CommandFault] =
    [.file(.missing(path: "it's a.patch"))]
    + [
      PrebuiltPatchFault.empty, .damaged("offset 3: it is truncated"), .kind("an in-place patch"),
      .makesAnotherSize(3, image: 4), .makesAnother(of: ContentIdentity(size: 3, crc32: 1)),
    ].map { .readyPatch(path: "it's a.patch", $0) }

  /// The second file has a name that must be quoted.
  private static let patchFiles: [CommandFault] =
    [PatchFile(of: [0, 1, 0, 0, 1, 7, 0])].compactMap(\.self).flatMap {
      [
        .patchFile(name: "app.patch", $0), .patchFile(name: "it's", path: "-a it's", $0),
        .patchFile(name: "-", path: "-", $0),
      ]
    }

  private static let package = FirmwarePackage(
    name: "app.bin", kind: .raw,
    parts: [
      FirmwareImage(
        name: "app.bin", format: .binary, bytes: [1, 2, 3], version: nil, hardware: nil)
    ])

  static func place(_ fault: CommandFault) -> Int {
    switch fault {
    case .usage: 0
    case .image: 1
    case .checksumDiffers: 2
    case .unproved: 3
    case .otherBoard: 4
    case .verificationKey: 5
    case .keyFile: 6
    case .update: 7
    case .connect: 8
    case .security: 9
    case .survey: 10
    case .noMatch: 11
    case .ambiguous: 12
    case .state: 13
    case .unhealthy: 14
    case .baseline: 15
    case .belowBaseline: 16
    case .stopped: 18
    case .simulation: 19
    case .output: 20
    case .outputFile: 21
    case .shortage: 22
    case .notFirmware: 23
    case .identityUnknown: 24
    case .imageNotTaken: 25
    case .noLastDevice: 26
    case .withoutCampaigns: 27
    case .campaign: 28
    case .patchFile: 29
    case .readyPatch: 30
    case .file: 31
    case .selfTestFailed: 32
    case .noSuchAlias: 33
    case .aliasRefused: 34
    case .noDeviceNamed: 35
    case .unknownDevice: 17
    case .noConsole: 36
    case .project: 37
    }
  }

  private static let outputs: [CommandFault] = {
    let capture = OutputFile(path: "a b.bin", kind: .btsnoop, option: "--capture")
    let plot = OutputFile(path: "p.svg", kind: .svg, option: "--plot")
    let patch = OutputFile(path: "a b.patch", kind: .patch, option: "--output")
    let faults: [OutputFileFault] = [
      .isInput, .otherKind, .danglingLink, .system(errno: ENXIO), .system(errno: ENOSPC),
    ]
    return faults.flatMap { fault -> [CommandFault] in
      [.outputFile(capture, fault), .outputFile(plot, fault), .outputFile(patch, fault)]
    }
  }()

  static let states: [StateFault] = [
    .noPlace, .diskFull(path: "/s"), .permissionDenied(path: "/s"), .notADirectory(path: "/s"),
    .impossiblePlace(path: "/s", FileErrno(rawValue: ENAMETOOLONG)), .notAFile(path: "/s"),
    .tooLarge(path: "/s", limit: 5), .newerFormat(path: "/s", format: 2),
    .deviceBusy(device: "sim:", holder: 7), .deviceBusy(device: "sim:", holder: nil),
    .registryBusy(path: "/s", waited: .seconds(5)),
    .system(.write, path: "/s", FileErrno(rawValue: EIO)),
  ]

  static func place(_ fault: StateFault) -> Int {
    switch fault {
    case .noPlace: 0
    case .diskFull: 1
    case .permissionDenied: 2
    case .notADirectory: 3
    case .impossiblePlace: 4
    case .notAFile: 5
    case .tooLarge: 6
    case .newerFormat: 7
    case .deviceBusy: 8
    case .registryBusy: 9
    case .system: 10
    }
  }

  static let keyFiles: [KeyFileFault] = {
    let own: [KeyFileFault] = [
      .exposed(path: "k", mode: 0o644), .wrongLength(path: "k", bytes: 3),
    ]
    return own + files.map { KeyFileFault.file($0) }
  }()

  static let files: [FileFault] = [
    .missing(path: "it's"), .unreadable(path: "/x", errno: EACCES), .isDirectory(path: "-d"),
    .silent(path: "f", waited: .seconds(10)), .interrupted(path: "f"),
    .tooLarge(path: "large.bin", limit: 64 << 20),
  ]

  static func place(_ fault: FileFault) -> Int {
    switch fault {
    case .missing: 0
    case .unreadable: 1
    case .isDirectory: 2
    case .silent: 3
    case .interrupted: 4
    case .tooLarge: 5
    }
  }
}
