import OtaflashFirmware
import Testing

@Suite struct ImageRemedyTests {
  @Test func aFaultStatesItsLocation() throws {
    let small = AddressFault.Place(region: try #require(AddressRegion("0..8")), dataCount: 3)
    let large = AddressFault.Place(region: try #require(AddressRegion("16..32")), dataCount: 9)
    let pairs: [(FirmwareFault, ImageRemedy)] = [
      (.addresses(.farApart([small, large])), .chooseRegion([large.region, small.region])),
      (.addresses(.noAddresses), .inspectImage),
      (.malformed(.intelHex(.line(7, .endMissing))), .lookAtLine(7)),
      (.malformed(.uf2(.noData)), .lookAtBeginning),
      (.descriptorDamaged(offset: 64), .lookAtBytes(64..<96)),
      (.manifest(.unknownKind), .lookAtFileInArchive("manifest.json")),
      (.manifest(.missing), .lookAtArchive), (.empty, .chooseAnotherFile),
      (.inFile("a.bin", .empty), .lookAtFileInArchive("a.bin")),
    ]
    for (fault, remedy) in pairs { #expect(fault.remedy == remedy, "\(fault)") }
    #expect("\(ImageRemedy.chooseRegion([small.region]))".hasSuffix("."))
    #expect(ProofFault.signatureWrong.remedy == .signImage)
    #expect(ProofFault.otherKey(stated: [1], wanted: [2]).remedy == .chooseAnotherKey)
  }
}
