import OtaflashGATT
import Testing

@testable import OtaflashUpdate

@Suite struct PreparedUploadTests {
  private struct Late: Error {}

  private static func fault(of error: any Error) async -> UpdateFault? {
    let upload = PreparedUpload(from: 0) { () async throws in throw error }
    do throws(UpdateFault) {
      try await upload.send()
      return nil
    } catch {
      return error
    }
  }

  @Test func errorsOfAnyTypeBecomeFaultsOfTheUpload() async {
    #expect(await Self.fault(of: UpdateFault.wrongKey) == .wrongKey)
    #expect(await Self.fault(of: GATTFault.unsubscribed) == .gatt(.upload, .unsubscribed))
    #expect(await Self.fault(of: CancellationError()) == .gatt(.upload, .cancelled))
    #expect(await Self.fault(of: Late()) == .protocolViolation(.upload, "Late()"))
  }
}
