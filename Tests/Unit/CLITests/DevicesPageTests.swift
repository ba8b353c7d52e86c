import Foundation
import OtaflashUpdate
import Testing

/// Tests that docs/devices.md matches the table of products and the table of protocols.
@Suite struct DevicesPageTests {
  /// `make troubleshooting` writes the page.
  @Test func thePageMatchesTheTable() throws {
    let file = Program.root.appending(path: DevicesPage.path)
    if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] != nil {
      try Data(DevicesPage.text.utf8).write(to: file)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == DevicesPage.text)
  }

  @Test func everyProtocolHasAProduct() {
    let served = Set(ServedDevice.all.map(\.updateProtocol))
    #expect(served == Set(UpdateProtocol.all.map { $0.updateProtocol }))
  }

  /// A search for a product finds one row.
  @Test func everyProductHasOneRow() {
    let names = ServedDevice.all.map(\.name) + ServedDevice.unsupported.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
