import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

/// Tests in which the link or the power fails during an update. The same run or the next run of the
/// update must complete it, and the new image must run.
@Suite struct CutTests {
  private static let image = UpdateTests.image(size: 20_000)

  /// Each PDU of a run without faults is the last PDU of a connection once.
  @Test(arguments: WriteMode.allCases)
  func theLinkMayEndAtEveryPDU(_ mode: WriteMode) throws {
    let clean = try flash(Self.image, onto: "fast") { $0.mode = mode }
    let bytes = try clean.outcome.get().bytesSent
    #expect(bytes == Self.image.bytes.count)
    var cut = 0
    var wasCut = true
    while wasCut {
      cut += 1
      let result = try flash(Self.image, onto: "fast?cut-at-pdu=\(cut)") { $0.mode = mode }
      let update = try result.outcome.get()
      #expect(update.isVerified && result.runningImage == Self.image.bytes, "cut at PDU \(cut)")
      wasCut = result.counters.connections > clean.counters.connections
    }
    // Each PDU of the run without faults was the last PDU once.
    #expect(cut > 100)
  }

  /// The device loses its power before and during every flash operation.
  @Test(arguments: ["", "&torn"])
  func theDeviceMayResetAtEveryFlashOperation(_ torn: String) throws {
    let clean = try flash(Self.image, onto: "fast")
    let operations = clean.counters.flashOperations
    #expect(operations > 20)
    for operation in 1...operations {
      let storage = FlashMemory(size: try SimulationProfile(parsing: "fast").flashSize)
      let profile = "fast?reset-at-flash-op=\(operation)\(torn)"
      var result = try flash(Self.image, onto: profile, storage: storage)
      // If the device resets between its answer to the activation and the write of the mark for the
      // bootloader, the old version runs. A second run of the same update succeeds.
      if case .failure(.oldVersionStillRuns) = result.outcome {
        #expect(operation > operations - 3)
        result = try flash(Self.image, onto: "fast", storage: storage)
      }
      let update = try result.outcome.get()
      #expect(
        update.isVerified && result.runningImage == Self.image.bytes, "reset at \(operation)")
      #expect(result.flashFaults.isEmpty)
      // At most one page and the content of the device's buffer may be sent again.
      #expect(update.bytesSent <= Self.image.bytes.count + 4096 + 8192)
    }
  }

  @Test func aCancelledUpdateNotifiesTheDeviceAndIsResumed() throws {
    let storage = FlashMemory(size: try SimulationProfile(parsing: "plain").flashSize)
    let image = UpdateTests.image(size: 60_000)
    let first = try flash(image, onto: "plain", storage: storage, cancelAfter: .milliseconds(1200))
    #expect(throws: UpdateFault.self) { try first.outcome.get() as UpdateResult }
    let acknowledged = first.events.reduce(0) { most, event in
      if case .progress(let offset, _) = event { max(most, offset) } else { most }
    }
    #expect(acknowledged > 4096)
    #expect(first.elapsed < .seconds(3))
    let second = try flash(image, onto: "plain", storage: storage)
    let update = try second.outcome.get()
    #expect(update.resumes == 1)
    // The second board is the first board after a reset, in which it lost a page and the content of
    // its receive buffer.
    #expect(update.bytesSent <= image.bytes.count - acknowledged + 4096 + 8192)
    #expect(second.runningImage == image.bytes)
  }
}
