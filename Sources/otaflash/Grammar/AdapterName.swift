/// The name of an adapter of this machine: `hci0` and so on.
struct AdapterName: ListElement, Hashable {
  static let expected = "an adapter; adapters are called hci0, hci1 …"
  let number: UInt16

  init?(listText: String) {
    guard listText.hasPrefix("hci"),
      let number = Quantity.whole(listText.dropFirst(3)).flatMap(UInt16.init(exactly:))
    else { return nil }
    self.number = number
  }

  var listText: String { "hci\(number)" }
}
