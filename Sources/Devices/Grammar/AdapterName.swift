import OtaflashConsole

/// The name of an adapter of the host, such as `hci0`.
package struct AdapterName: ListElement, Hashable {
  package static let expected = "an adapter; adapters are called hci0, hci1 …"
  package let number: UInt16

  package init?(listText: String) {
    guard listText.hasPrefix("hci"),
      let number = Quantity.whole(listText.dropFirst(3)).flatMap(UInt16.init(exactly:))
    else { return nil }
    self.number = number
  }

  package var listText: String { "hci\(number)" }
}
