import Testing

@testable import OtaflashConsole
@testable import OtaflashProgram
@testable import otaflash

@Suite struct TimestampTests {
  /// The clock is wrong, as on a gateway without a battery.
  @Test func timesBefore1970AreWritten() {
    #expect(Timestamp.text(-32.5) == "1969-12-31T23:59:27.500Z")
    #expect(Timestamp.text(-0.001) == "1969-12-31T23:59:59.999Z")
    #expect(Timestamp.text(-1) == "1969-12-31T23:59:59.000Z")
    #expect(Timestamp.text(1.5) == "1970-01-01T00:00:01.500Z")
  }
}

/// Tests of the note that states that the host had no free processor.
@Suite struct ProcessorWaitTests {
  @Test func aBusyMachineIsNamed() throws {
    let note = try #require(ProcessorWait.note(waited: .seconds(12), of: .seconds(60)))
    #expect(note.contains("waited for a processor for 20% of the time"))
    #expect(ProcessorWait.note(waited: .seconds(5), of: .seconds(60)) == nil)
    #expect(ProcessorWait.note(waited: .seconds(1), of: .seconds(1)) == nil)
  }

  @Test func theKernelsNumbersAreRead() {
    #expect(ProcessorWait.wait(in: "4200000 1500000000 17\n") == .milliseconds(1500))
    #expect(ProcessorWait.wait(in: "0 1\n") == nil)
    #expect(ProcessorWait.wait(in: "") == nil)
  }

  @Test func aNewMeasurementStartsWithoutWaits() { #expect(ProcessorWait().note() == nil) }
}
