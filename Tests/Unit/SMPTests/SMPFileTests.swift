import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

/// Tests of complete transfers of files to and from the simulated device.
@Suite struct SMPFileTests {
  /// A device with fast flash and short requests, for transfers of few PDUs.
  private static let quick =
    "slot=64K&files=128K&erase=1ms&write=1ms&mtu=247&netbufs=4x384&interval=15ms"

  private static let small =
    "slot=32K&files=32K&erase=1ms&write=1ms&mtu=247&netbufs=4x384&interval=15ms"

  @Test(
    "a file is written, read and verified",
    arguments: [
      ("slot=64K&files=128K", SMPFileEvidence.checksum("crc32")),
      ("slot=64K&files=128K&checksums=sha256", .checksum("sha256")),
      ("slot=64K&files=128K&checksums=no", .readBack),
      ("slot=64K&files=128K&file-status=no", .checksum("crc32")),
      ("slot=64K&files=128K&checksums=no&file-status=no", .readBack), (quick, .checksum("crc32")),
      (quick + "&reassembly=no", .checksum("crc32")), (quick + "&v1=yes", .checksum("crc32")),
      (quick + "&params=no", .checksum("crc32")), ("slot=64K&files=128K&server=2021", .readBack),
    ])
  func transfer(_ settings: String, _ evidence: SMPFileEvidence) throws {
    let storage = try boardFlash(settings)
    let bytes = randomBytes(50_000)
    let sent = try put(bytes, onto: settings, on: storage).result.get()
    #expect(sent.evidence == evidence && !sent.wasThere && sent.resumedFrom == 0)
    #expect(sent.bytesSent == bytes.count)
    let read = try get(from: settings, on: storage).result.get()
    #expect(read.bytes == bytes)
    #expect(read.evidence == (evidence == .readBack ? .length : evidence))
  }

  @Test("a file that the device has is not sent again")
  func alreadyThere() throws {
    let storage = try boardFlash(Self.quick)
    let bytes = randomBytes(10_000)
    _ = try put(bytes, onto: Self.quick, on: storage).result.get()
    let again = try put(bytes, onto: Self.quick, on: storage).result.get()
    #expect(again.wasThere && again.bytesSent == 0 && again.evidence == .checksum("crc32"))
    let forced = try put(bytes, onto: Self.quick, on: storage, sendsAnyway: true).result.get()
    #expect(!forced.wasThere && forced.bytesSent == bytes.count)
  }

  @Test("a file of any size is replaced by a file of any other size, except an empty one")
  func replacement() throws {
    let storage = try boardFlash(Self.quick)
    for (number, size) in [0, 1, 4095, 4096, 4097, 100, 30_000, 8192, 7].enumerated() {
      let bytes = randomBytes(size, seed: UInt64(number))
      _ = try put(bytes, onto: Self.quick, on: storage).result.get()
      #expect(try get(from: Self.quick, on: storage).result.get().bytes == bytes, "\(size)")
    }
    guard
      case .failure(.declined(.verify, let refusal)) = try put(
        [], onto: Self.quick, on: storage
      ).result
    else {
      Issue.record("an empty file does not replace a file")
      return
    }
    #expect(refusal.meaning == "the existing file was not emptied")
  }

  @Test(
    "after a cut at every PDU, the next run ends with the same bytes", arguments: [true, false])
  func cutsOfPut(_ hasChecksums: Bool) throws {
    let settings = Self.small + (hasChecksums ? "" : "&checksums=no")
    let (old, new) = (randomBytes(1_000, seed: 1), randomBytes(4_000, seed: 2))
    let prepared = try boardFlash(settings)
    _ = try put(old, onto: settings, on: prepared).result.get()
    let whole = try put(new, onto: settings, on: prepared.copy()).pdus
    var resumed = 0
    for cut in 1...whole {
      let storage = prepared.copy()
      let faults = LinkFaults(cutAfter: cut)
      let first = try put(new, onto: settings, on: storage, faults: faults, reconnects: false)
      if case .success = first.result, cut < whole {
        // A lost answer to the last request does not matter if nothing follows.
        #expect(try get(from: settings, on: storage).result.get().bytes == new, "cut \(cut)")
      }
      let second = try put(new, onto: settings, on: storage).result.get()
      if second.resumedFrom > 0, !second.wasThere { resumed += 1 }
      #expect(try get(from: settings, on: storage).result.get().bytes == new, "cut \(cut)")
    }
    #expect((resumed > 0) == hasChecksums)
  }

  @Test("one run survives a cut at every PDU", arguments: [true, false])
  func cutsWithinOneRun(_ hasChecksums: Bool) throws {
    let settings = Self.small + (hasChecksums ? "" : "&checksums=no")
    let bytes = randomBytes(4_000, seed: 3)
    let whole = try put(bytes, onto: settings).pdus
    for cut in stride(from: 1, through: whole, by: 1) {
      let storage = try boardFlash(settings)
      let run = try put(bytes, onto: settings, on: storage, faults: LinkFaults(cutAfter: cut))
      switch run.result {
      case .success: break
      // A link that is lost in its first PDUs, before the transfer has started, is reported.
      case .failure(let fault): #expect(cut < 8, "cut \(cut): \(fault)")
      }
      if case .success = run.result {
        #expect(try get(from: settings, on: storage).result.get().bytes == bytes, "cut \(cut)")
      }
    }
  }

  @Test("reading survives a cut at every PDU")
  func cutsOfGet() throws {
    let storage = try boardFlash(Self.small)
    let bytes = randomBytes(4_000, seed: 4)
    _ = try put(bytes, onto: Self.small, on: storage).result.get()
    let whole = try get(from: Self.small, on: storage).pdus
    for cut in 1...whole {
      let faults = LinkFaults(cutAfter: cut)
      switch try get(from: Self.small, on: storage, faults: faults).result {
      case .success(let outcome): #expect(outcome.bytes == bytes, "cut \(cut)")
      case .failure(let fault): #expect(cut < 8, "cut \(cut): \(fault)")
      }
    }
  }

  @Test("lost and repeated requests do not change the file", arguments: 0..<16)
  func losses(_ seed: Int) throws {
    let settings =
      Self.small + (seed.isMultiple(of: 3) ? "&checksums=no" : "")
      + (seed.isMultiple(of: 2) ? "&reassembly=no" : "")
    let storage = try boardFlash(settings)
    let bytes = randomBytes(8_000, seed: UInt64(seed))
    let faults = LinkFaults(lossShare: 0.04, repeatShare: 0.04, seed: UInt64(seed))
    switch try put(bytes, onto: settings, on: storage, faults: faults).result {
    case .success:
      #expect(try get(from: settings, on: storage).result.get().bytes == bytes)
    case .failure(let fault):
      // A clear error is permitted, a false claim is not.
      switch fault {
      case .declined(.verify, _), .stalled, .noProgress, .gatt(_, .timedOut): break
      default: Issue.record("\(fault)")
      }
    }
    let read = try get(
      from: settings, on: storage,
      faults: LinkFaults(lossShare: 0.05, seed: UInt64(seed) + 1_000))
    if case .success(let outcome) = read.result {
      #expect(outcome.bytes == (try get(from: settings, on: storage).result.get().bytes))
    }
  }

  @Test(
    "a refusal is reported with its code",
    arguments: [
      ("/usb/file", "fs 14"), ("/rom/file", "fs 15"), ("relative", "fs 2"),
      ("/lfs1/" + String(repeating: "x", count: 60), "rc 3"), ("/lfs1/folder", "fs 1"),
    ])
  func refusals(_ path: String, _ code: String) throws {
    let storage = try boardFlash(Self.quick)
    _ = try put([1], to: "/lfs1/folder/file", onto: Self.quick, on: storage).result.get()
    guard
      case .failure(.declined(_, let refusal)) = try put(
        [1, 2, 3], to: path, onto: Self.quick, on: storage
      ).result
    else {
      Issue.record("the path is accepted")
      return
    }
    #expect(refusal.code == code || code == "fs 1" && refusal.code == "fs 4", "\(refusal)")
  }

  @Test("a full file system is reported, and keeps the other files")
  func full() throws {
    let settings = Self.small
    let storage = try boardFlash(settings)
    _ = try put([5, 6], to: "/lfs1/other", onto: settings, on: storage).result.get()
    guard
      case .failure(.declined(.upload, let refusal)) = try put(
        randomBytes(60_000), onto: settings, on: storage
      ).result
    else {
      Issue.record("the file fits")
      return
    }
    #expect(refusal.code == "fs 10")
    #expect(try get("/lfs1/other", from: settings, on: storage).result.get().bytes == [5, 6])
  }

  @Test("a device without files, and a missing file, are reported")
  func missing() throws {
    guard case .failure(.declined(_, let none)) = try put([1], onto: "files=no").result,
      case .failure(.declined(_, let read)) = try get(from: "files=no").result,
      case .failure(.declined(_, let missing)) = try get("/lfs1/x", from: Self.quick).result
    else {
      Issue.record("no refusal")
      return
    }
    #expect(none.advice.contains("CONFIG_MCUMGR_GRP_FS") && none == read)
    #expect(missing.code == "fs 3")
  }
}
