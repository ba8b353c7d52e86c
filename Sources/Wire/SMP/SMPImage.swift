/// The image management group (Zephyr, MCUmgr group 1), without the upload.
package enum SMPImage {
  /// The content of one slot. Only slots with a valid image are reported.
  package struct Slot: Equatable, Sendable {
    /// The number of the image that the slot belongs to; a server with one image omits the number.
    package var image: Int?
    package var slot: Int
    package var version: String
    /// The hash in the image's trailer (MCUboot TLV 0x10…0x12), which is not the hash of the file.
    package var hash: [UInt8]?
    package var flags: Flags

    package init(
      image: Int? = nil, slot: Int, version: String, hash: [UInt8]?, flags: Flags
    ) {
      self.image = image
      self.slot = slot
      self.version = version
      self.hash = hash
      self.flags = flags
    }

    package struct Flags: OptionSet, Hashable, Sendable {
      package let rawValue: UInt8

      package init(rawValue: UInt8) { self.rawValue = rawValue }

      package static let bootable = Flags(rawValue: 1)
      /// The bootloader starts the image next.
      package static let pending = Flags(rawValue: 2)
      /// The image is confirmed, so that it is not reverted.
      package static let confirmed = Flags(rawValue: 4)
      /// The image is running.
      package static let active = Flags(rawValue: 8)
      /// The image stays after its first start, without a confirmation.
      package static let permanent = Flags(rawValue: 16)

      fileprivate static let names: [(name: String, flag: Flags)] = [
        ("bootable", .bootable), ("pending", .pending), ("confirmed", .confirmed),
        ("active", .active), ("permanent", .permanent),
      ]
    }

    init(fields: SMPFields) throws(SMPDecodeFault) {
      image = try fields.value("image")
      slot = try fields.required("slot")
      version = try fields.required("version")
      hash = try fields.value("hash")
      flags = []
      for (name, flag) in Flags.names where try fields.value(name) ?? false {
        flags.insert(flag)
      }
    }

    var item: CBORItem {
      let named = Flags.names.map { (name, flag) in
        CBORMap.Pair(key: .text(name), value: .boolean(flags.contains(flag)))
      }
      let fields = CBORMap([
        "image": image.map(CBORItem.integer), "slot": .integer(slot),
        "version": .text(version), "hash": hash.map(CBORItem.bytes),
      ])
      return .map(CBORMap(pairs: fields.pairs + named))
    }
  }

  /// The list of all slots with an image.
  package struct State: SMPResponse {
    package var slots: [Slot]
    /// The status of split images, which Zephyr does not use: Zephyr sends 0 or omits the field.
    package var splitStatus: Int32?

    package init(slots: [Slot], splitStatus: Int32? = nil) {
      self.slots = slots
      self.splitStatus = splitStatus
    }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      let slots = try fields.list("images") { (entry) throws(SMPDecodeFault) in
        try Slot(fields: entry)
      }
      guard let slots else { throw .missing("images") }
      self.slots = slots
      splitStatus = try fields.value("splitStatus")
    }

    package var body: CBORMap {
      CBORMap([
        "images": .array(slots.map(\.item)),
        "splitStatus": splitStatus.map { .integer(Int($0)) },
      ])
    }
  }

  /// Command 0, read: returns the list of slots.
  package struct ReadState: SMPRequest {
    package typealias Response = State
    package static let command = SMPCommand(.image, 0, .read)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }
  }

  /// Command 0, write: selects the image to start next.
  package struct WriteState: SMPRequest {
    package static let command = SMPCommand(.image, 0, .write)
    /// The image to start; `nil` confirms the running image.
    package var hash: [UInt8]?
    /// Whether the image is started permanently; otherwise it is started once, and must be
    /// confirmed while it runs.
    package var isConfirmed: Bool

    package init(hash: [UInt8]?, isConfirmed: Bool) {
      self.hash = hash
      self.isConfirmed = isConfirmed
    }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      hash = try fields.value("hash")
      isConfirmed = try fields.value("confirm") ?? false
    }

    package var body: CBORMap {
      CBORMap(["hash": hash.map(CBORItem.bytes), "confirm": .boolean(isConfirmed)])
    }

    /// The new list of slots; MCUboot's serial recovery responds without a list.
    package struct Response: SMPResponse {
      package var state: State?

      package init(_ state: State?) { self.state = state }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        do throws(SMPDecodeFault) {
          state = try State(fields: fields)
        } catch .missing("images") {
          state = nil
        }
      }

      package var body: CBORMap { state?.body ?? CBORMap() }
    }
  }

  /// Command 5: erases a slot, and responds after the erase.
  package struct Erase: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.image, 5, .write)
    /// The slot, as 2 × image + slot; `nil` selects 1, the secondary slot of image 0.
    package var slot: Int?

    package init(slot: Int? = nil) { self.slot = slot }

    package init(fields: SMPFields) throws(SMPDecodeFault) { slot = try fields.value("slot") }

    package var body: CBORMap { CBORMap(["slot": slot.map(CBORItem.integer)]) }
  }
}
