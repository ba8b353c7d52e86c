#if Fleet
import OtaflashFleet
import Testing

@testable import OtaflashFleetFiles

/// Tests of several mistakes in one file, and of files in the forms in which editors and
/// spreadsheets save them.
@Suite struct MistakeTests {
  private static func mistakes(_ body: () throws -> Void) -> [CampaignFileFault] {
    do {
      try body()
      return []
    } catch let fault as CampaignFileFault {
      return [fault] + fault.further
    } catch {
      Issue.record("\(error)")
      return []
    }
  }

  @Test func allMistakesOfACampaignAreReportedInTheirOrder() {
    let found = Self.mistakes {
      _ = try CampaignFileTests.read(
        """
        campaign: c
        imagee: a
        devices: [a, {name: x}, {id: b, version: 1.2}]
        waves: [{devices: some, soak: 5}, {devices: rest, stop: {then: wait}}]
        window: {from: 25:00, zone: Europe/Atlantis}
        retries: {link: 0, jitter: half}
        hooks: {before-wave: 5, time-limit: 0s}
        select: bord=x
        """)
    }
    #expect(
      found.map(\.place.line) == [2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 7, 8],
      "\(found.map(\.description))")
    #expect(found.map(\.place) == found.map(\.place).sorted())
  }

  @Test func theNumberOfMistakesIsLimited() throws {
    let devices = String(repeating: "{id: a, color: b}, ", count: 50)
    do throws(CampaignFileFault) {
      _ = try CampaignFileTests.read("campaign: c\nimage: a\ndevices: [\(devices)]")
      Issue.record("it was read")
    } catch {
      #expect(error.further.count == 19 && error.omitted == 30)
    }
  }

  @Test func allMistakesOfATableAreReportedInTheirOrder() {
    let found = Self.mistakes {
      _ = try DeviceTableTests.read("id,version\na,1.2\nb\n,1.2.0\nc, x\nd,1.2.0\ne,\"1\"2\nf,1\n")
    }
    #expect(found.map(\.place.line) == [2, 3, 4, 5, 7, 8], "\(found.map(\.description))")
    let columns = Self.mistakes { _ = try DeviceTableTests.read("Id,nmae,color\na,b,c\n") }
    #expect(columns.map(\.place.column) == [1, 4, 9])
    #expect(columns[1].words.contains("did you mean 'name'?"))
  }

  /// The same devices in each encoding and with each separator.
  @Test(arguments: [",", ";", "\t"])
  func tablesOfSpreadsheetsAreParsed(separator: String) throws {
    let lines = ["id,name,tags,site", "a,Tür,\"outside,heavy\",x", "b,,indoors dry,"]
    var text = lines.joined(separator: "\r\n")
    if separator != "," {
      text = text.replacing("\"outside,heavy\"", with: "outside|heavy")
        .replacing(",", with: separator).replacing("|", with: ",")
    }
    let units = Array(text.utf16)
    let encodings: [[UInt8]] = [
      Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8),
      [0xFF, 0xFE] + units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] },
      [0xFE, 0xFF] + units.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] },
    ]
    for bytes in encodings {
      let devices = try DeviceTable(path: "d.csv", bytes: bytes).rows.map(\.device)
      #expect(devices.map(\.id) == ["a", "b"] && devices[0].name == "Tür")
      #expect(devices.map(\.tags) == [["outside", "heavy"], ["indoors", "dry"]])
    }
  }

  @Test func latin1IsReportedWithItsPosition() {
    let bytes = Array("id,name\na,x\nb,T".utf8) + [0xFC] + Array("r\n".utf8)
    #expect {
      _ = try DeviceTable(path: "d.csv", bytes: bytes)
    } throws: {
      "\($0)".hasPrefix("line 3, column 4: the byte 0xFC, 'ü' in Latin-1, is not UTF-8")
    }
    let odd: [UInt8] = [0xFF, 0xFE, 0x69]
    #expect {
      _ = try DeviceTable(path: "d.csv", bytes: odd)
    } throws: { "\($0)".contains("not UTF-16 text; save it as UTF-8") }
  }

  @Test func aCampaignMayHaveAByteOrderMark() throws {
    let text = CampaignFileTests.minimal
    let marked = [0xEF, 0xBB, 0xBF] + Array(text.utf8)
    let campaign = try CampaignFile(bytes: marked, now: CampaignFileTests.now).campaign
    #expect(try campaign == CampaignFileTests.read(text).campaign)
  }

  @Test func aLineIsShownInAnyEncoding() {
    let text = "one\r\nzwei ü\nthree"
    #expect(FileLine(2, of: Array(text.utf8))?.text == "zwei ü")
    #expect(FileLine(1, of: Array(text.utf8))?.text == "one")
    let units = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    #expect(FileLine(3, of: [0xFF, 0xFE] + units)?.text == "three")
    #expect(FileLine(4, of: Array(text.utf8)) == nil)
  }
}
#endif
