import Foundation
import OtaflashATT
import Testing

@testable import OtaflashUpdate

/// Tests that the constants of the host, the document and the C receiver are the same.
@Suite struct ServiceConstantsTests {
  @Test func theUUIDsMatchTheDocument() throws {
    let table = try ServiceDocument.rows(of: "## 1.").map { row in
      (row[0], BluetoothUUID(row[1].filter { $0 != "`" }))
    }
    let expected: [(String, BluetoothUUID)] = [
      ("OTA service (primary)", OTAService.service), ("Control", OTAService.control),
      ("Data", OTAService.data), ("Status", OTAService.status),
    ]
    #expect(table.map(\.0) == expected.map(\.0))
    #expect(table.map(\.1) == expected.map(\.1))
  }

  static let operations: [(request: OTARequest, name: String, header: String)] = [
    (.info(hostVersion: 1), "INFO", "OTA_OP_INFO"),
    (.running, "RUNNING", "OTA_OP_RUNNING"),
    (.resumePoint, "RESUME POINT", "OTA_OP_RESUME_POINT"),
    (.challenge, "CHALLENGE", "OTA_OP_CHALLENGE"),
    (.authorize(proof: []), "AUTHORIZE", "OTA_OP_AUTHORIZE"),
    (.begin(.vector), "BEGIN", "OTA_OP_BEGIN"),
    (.rewind(offset: 0), "REWIND", "OTA_OP_REWIND"),
    (.verify, "VERIFY", "OTA_OP_VERIFY"),
    (.activate, "ACTIVATE", "OTA_OP_ACTIVATE"),
    (.confirm, "CONFIRM", "OTA_OP_CONFIRM"),
    (.abort(discard: false), "ABORT", "OTA_OP_ABORT"),
    (.patchInfo, "PATCH INFO", "OTA_OP_PATCH_INFO"),
    (.patch(.vector), "PATCH", "OTA_OP_PATCH"),
    (.patchPoint, "PATCH POINT", "OTA_OP_PATCH_POINT"),
  ]

  @Test func theOpcodesMatchTheDocumentAndTheHeader() throws {
    let table = try ServiceDocument.rows(of: "## 4.").map { $0[0] }
    #expect(
      table == Self.operations.map { "\(twoDigits($0.request.opcode)) \($0.name)" })
    let header = try ServiceDocument.headerConstants()
    for operation in Self.operations {
      #expect(header[operation.header] == UInt32(operation.request.opcode), "\(operation.name)")
    }
    #expect(header.keys.count { $0.hasPrefix("OTA_OP_") } == Self.operations.count)
  }

  static let refusals: [(refusal: OTARefusal, words: String, header: String)] = [
    (.unknownOpcode, "unknown opcode", "UNKNOWN_OPCODE"),
    (.malformedRequest, "malformed request", "MALFORMED_REQUEST"),
    (.wrongState, "wrong state", "WRONG_STATE"),
    (.notAuthorized, "not authorized", "NOT_AUTHORIZED"),
    (.wrongHardware, "wrong hardware", "WRONG_HARDWARE"),
    (.doesNotFit, "does not fit the slot", "DOES_NOT_FIT"),
    (.downgrade, "downgrade", "DOWNGRADE"),
    (.checksumMismatch, "CRC32 mismatch", "CRC_MISMATCH"),
    (.flashFault, "flash fault", "FLASH_FAULT"),
    (.versionNotSupported, "version not supported", "VERSION_NOT_SUPPORTED"),
    (.wrongProof, "proof wrong", "WRONG_PROOF"),
    (.locked, "locked", "LOCKED"),
    (.refusedByApplication, "refused by the application", "REFUSED_BY_APPLICATION"),
    (.nothingToConfirm, "nothing to confirm", "NOTHING_TO_CONFIRM"),
    (.otherBase, "other base", "OTHER_BASE"),
  ]

  @Test func theResultsMatchTheDocumentAndTheHeader() throws {
    #expect(Self.refusals.map(\.refusal) == OTARefusal.allCases)
    let results = try listed(in: "### 4.1")
    let header = try ServiceDocument.headerConstants()
    #expect(results.count == 1 + Self.refusals.count)
    #expect(results[0] == "0 done")
    for (entry, text) in zip(Self.refusals, results.dropFirst()) {
      let code = entry.refusal.rawValue
      let digits = code < 10 ? "\(code)" : twoDigits(code)
      #expect(text.hasPrefix("\(digits) \(entry.words)"))
      #expect(header["OTA_RESULT_" + entry.header] == UInt32(code))
    }
  }

  @Test func theStatesAndErrorsOfStatusMatchTheDocumentAndTheHeader() throws {
    let header = try ServiceDocument.headerConstants()
    let states: [(OTAStatus.State, String)] = [
      (.idle, "IDLE"), (.receiving, "RECEIVING"), (.verifying, "VERIFYING"),
      (.verified, "VERIFIED"), (.activating, "ACTIVATING"),
    ]
    let documented = try #require(try ServiceDocument.rows(of: "## 2.").first)[3]
    #expect(
      documented == states.map { "\($0.0.rawValue) \($0.1.lowercased())" }.joined(separator: ", "))
    for (state, name) in states {
      #expect(header["OTA_STATE_" + name] == UInt32(state.rawValue))
    }
    let notes: [(OTAStatus.Note, String)] = [
      (.none, "NONE"), (.gap, "GAP"), (.overrun, "OVERRUN"), (.flashFault, "FLASH_FAULT"),
      (.noSession, "NO_SESSION"), (.notAuthorized, "NOT_AUTHORIZED"),
      (.patchRefused, "PATCH_REFUSED"),
    ]
    let errors = try listed(in: "### 2.1")
    #expect(errors.count == notes.count)
    for ((note, name), text) in zip(notes, errors) {
      let words = name.lowercased().replacing("_", with: " ")
      #expect(text.hasPrefix("\(note.rawValue) \(words)"))
      #expect(header["OTA_ERROR_" + name] == UInt32(note.rawValue))
    }
  }

  @Test func theFlagsSizesAndErrorCodesMatchTheHeader() throws {
    let header = try ServiceDocument.headerConstants()
    let expected: [String: UInt32] = [
      "OTA_PROTOCOL_VERSION": UInt32(OTAService.protocolVersion),
      "OTA_CHALLENGE_SIZE": UInt32(OTAProof.challengeSize),
      "OTA_PROOF_SIZE": UInt32(OTAProof.proofSize),
      "OTA_ATT_BUSY": UInt32(OTAService.busy.rawValue),
      "OTA_ATT_GAP": UInt32(OTAService.wrongOffset.rawValue),
      "OTA_ATT_NO_SESSION": UInt32(OTAService.noSession.rawValue),
      "OTA_ATT_NOT_AUTHORIZED": UInt32(OTAService.notAuthorized.rawValue),
      "OTA_BEGIN_RESTART": UInt32(OTABegin.Flags.restart.rawValue),
      "OTA_BEGIN_ALLOW_DOWNGRADE": UInt32(OTABegin.Flags.allowDowngrade.rawValue),
      "OTA_BEGIN_ALLOW_OTHER_HARDWARE": UInt32(OTABegin.Flags.allowOtherHardware.rawValue),
      "OTA_BEGIN_SINK": UInt32(OTABegin.Flags.sink.rawValue),
      "OTA_BEGIN_PATCH": UInt32(OTABegin.Flags.patch.rawValue),
      "OTA_BOOT_NORMAL": UInt32(OTARunning.BootOutcome.normal.rawValue),
      "OTA_BOOT_ACTIVATED": UInt32(OTARunning.BootOutcome.activated.rawValue),
      "OTA_BOOT_REVERTED": UInt32(OTARunning.BootOutcome.rejected.rawValue),
    ]
    for (name, value) in expected { #expect(header[name] == value, "\(name)") }
  }

  /// The entries of a section in which dots separate the values.
  private func listed(in heading: String) throws -> [String] {
    let body = try ServiceDocument.section(heading).split(separator: "\n").dropFirst()
    return body.joined(separator: " ").split(separator: "·")
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func twoDigits(_ value: UInt8) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return digits.count == 1 ? "0" + digits : digits
  }
}
