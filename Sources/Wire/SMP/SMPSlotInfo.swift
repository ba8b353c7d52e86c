extension SMPImage {
  /// Command 6: returns the sizes of all slots.
  package struct SlotInfo: SMPRequest {
    package static let command = SMPCommand(.image, 6, .read)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }

    package struct Response: SMPResponse {
      package var images: [Image]

      package init(images: [Image]) { self.images = images }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        let images = try fields.list("images") { (entry) throws(SMPDecodeFault) in
          try Image(fields: entry)
        }
        guard let images else { throw .missing("images") }
        self.images = images
      }

      package var body: CBORMap { CBORMap(["images": .array(images.map(\.item))]) }
    }

    package struct Image: Equatable, Sendable {
      package var image: Int
      package var slots: [Slot]
      /// The size of the largest file for this image in bytes, if the bootloader reported it.
      package var largestImage: Int?

      package init(image: Int, slots: [Slot], largestImage: Int? = nil) {
        self.image = image
        self.slots = slots
        self.largestImage = largestImage
      }

      fileprivate init(fields: SMPFields) throws(SMPDecodeFault) {
        image = try fields.required("image")
        slots =
          try fields.list("slots") { (entry) throws(SMPDecodeFault) in
            try Slot(fields: entry)
          } ?? []
        largestImage = try fields.value("max_image_size")
      }

      fileprivate var item: CBORItem {
        .map(
          CBORMap([
            "image": .integer(image), "slots": .array(slots.map(\.item)),
            "max_image_size": largestImage.map(CBORItem.integer),
          ]))
      }
    }

    package struct Slot: Equatable, Sendable {
      package var slot: Int
      /// The size in bytes; a server that could not open the slot omits it.
      package var size: Int?
      /// The image number that addresses this slot in an upload.
      package var uploadImage: Int?

      package init(slot: Int, size: Int?, uploadImage: Int? = nil) {
        self.slot = slot
        self.size = size
        self.uploadImage = uploadImage
      }

      fileprivate init(fields: SMPFields) throws(SMPDecodeFault) {
        slot = try fields.required("slot")
        size = try fields.value("size")
        uploadImage = try fields.value("upload_image_id")
      }

      fileprivate var item: CBORItem {
        .map(
          CBORMap([
            "slot": .integer(slot), "size": size.map(CBORItem.integer),
            "upload_image_id": uploadImage.map(CBORItem.integer),
          ]))
      }
    }
  }
}
