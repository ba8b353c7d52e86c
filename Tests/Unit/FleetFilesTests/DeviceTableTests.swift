#if Fleet
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetFiles
import Testing

@Suite struct DeviceTableTests {
  static func read(_ text: String) throws(CampaignFileFault) -> [FleetDevice] {
    try DeviceTable(path: "d.csv", bytes: Array(text.utf8)).rows.map(\.device)
  }

  @Test func everyColumnIsParsed() throws {
    let devices = try Self.read(
      "id,name,board,site,tags,key-file,version\na,one,door,berlin,x y,keys/a,1.2.0\nb,,,,,,\n")
    var one = FleetDevice(id: "a", name: "one", board: "door", site: "berlin")
    one.tags = ["x", "y"]
    one.keyFile = "keys/a"
    one.version = FirmwareVersion(1, 2, 0)
    #expect(devices == [one, FleetDevice(id: "b")])
  }

  @Test(arguments: [
    "id,name\na,x\nb,y\n", "id,name\r\na,x\r\nb,y\r\n", "\u{FEFF}id,name\na,x\nb,y",
    "name,id\nx,a\ny,b\n", "\"id\",\"name\"\n\"a\",\"x\"\n\"b\",\"y\"\n",
    "id,name\n\n\na,x\n\nb,y\n\n",
  ])
  func lineEndsByteOrderMarksAndColumnOrderAreIrrelevant(_ text: String) throws {
    #expect(
      try Self.read(text) == [
        FleetDevice(id: "a", name: "x"), FleetDevice(id: "b", name: "y"),
      ])
  }

  @Test func quotedFieldsMayContainSeparators() throws {
    let devices = try Self.read("id,name\na,\"x, \"\"y\"\"\nz\"\n\"sim:?a=1,2\",\"\"\n")
    #expect(devices.map(\.id) == ["a", "sim:?a=1,2"])
    #expect(devices.map(\.name) == ["x, \"y\"\nz", nil])
  }

  @Test func positionsCountLinesWithinQuotedFields() throws {
    let rows = try DeviceTable(path: "d", bytes: Array("id,name\na,\"1\n2\"\nb,x\n".utf8)).rows
    #expect(rows.map(\.place.line) == [2, 4])
  }

  @Test(arguments: [
    ("", 1, 1, "the file is empty"), ("name\nx", 1, 1, "the column 'id' is missing"),
    ("id,color\na,red", 1, 4, "unknown column 'color'"),
    ("name,ID\na,b", 1, 6, "unknown column 'ID'; did you mean 'id'?"),
    ("Address,name\na,b", 1, 1, "did you mean 'id'?"), ("id,id\na,b", 1, 4, "duplicate column"),
    ("id,name\na", 2, 1, "the row has 1 fields, but the table has 2 columns"),
    ("id,name\na,b,c", 2, 1, "3 fields"),
    ("id,name\n,x", 2, 1, "the row has no id"),
    ("id\nsim-fleet:3", 2, 1, "write a simulated fleet in the campaign"),
    ("id,version\na,1.2", 2, 3, "'1.2' is not a version"),
    ("id\n\"a", 2, 1, "the quotation mark is not closed"),
    ("id\na\"b\"", 2, 2, "must be in quotation marks"),
    ("id\n\"a\"b", 2, 4, "after the quotation mark"),
    ("id,name\na, x", 2, 3, "spaces around"),
    ("id,name\na,x ", 2, 3, "spaces around"),
    ("id\na\rb", 2, 2, "control character"), ("id\na\u{0}", 2, 2, "control character"),
    ("id\na\tb", 2, 2, "control character"),
  ])
  func errorsInATableHaveAPosition(
    _ text: String, _ line: Int, _ column: Int, _ words: String
  ) {
    do throws(CampaignFileFault) {
      _ = try Self.read(text)
      Issue.record("it was read")
    } catch {
      #expect(error.words.contains(words), "\(error)")
      #expect(error.place == FilePlace(line: line, column: column), "\(error)")
      #expect(error.file == .devices(path: "d.csv"))
    }
  }

  @Test func anUnclosedQuotationMarkDoesNotConsumeTheFile() {
    let text = "id\n\"" + String(repeating: "a\n", count: 1_000_000)
    #expect(throws: CampaignFileFault.self) { try Self.read(text) }
  }

  @Test func theMaximumNumberOfTableRowsIsAHundredThousand() throws {
    let text = "id\n" + (0..<100_000).map { "d\($0)\n" }.joined()
    #expect(try Self.read(text).count == 100_000)
    #expect(throws: CampaignFileFault.self) { try Self.read(text + "x\n") }
  }

  /// Found by the fuzzer: 16 MB of long fields took minutes, and 30 MB of commas needed 1.5 GB.
  @Test func theCostOfFieldsIsProportionalToTheirLength() throws {
    let name = String(repeating: "x", count: 4000)
    for field in [name, "\"\(name)\""] {
      let text = "id,name\n" + (0..<1000).map { "d\($0),\(field)\n" }.joined()
      let began = ContinuousClock.now
      #expect(try Self.read(text).count == 1000)
      #expect(ContinuousClock.now - began < .seconds(5))
    }
    let commas = "id\n" + String(repeating: ",", count: 1_000_000)
    #expect {
      _ = try Self.read(commas)
    } throws: { error in
      "\(error)" == "line 2, column 64: a row has at most 64 fields"
    }
    let long = "id\n" + String(repeating: "x", count: 4097)
    #expect {
      _ = try Self.read(long)
    } throws: { "\($0)".contains("at most 4096 characters") }
  }
}
#endif
