extension SMPImage {
  /// Command 1: uploads a part of an image.
  package struct Upload: SMPRequest {
    package static let command = SMPCommand(.image, 1, .write)
    package static let offsetName = "off"
    package var offset: Int
    package var data: [UInt8]
    /// The additional fields of the request at offset 0.
    package var announcement: Announcement?

    package init(offset: Int, data: [UInt8], announcement: Announcement? = nil) {
      self.offset = offset
      self.data = data
      self.announcement = announcement
    }

    /// Decodes a request; a request without a `data` field contains no data.
    package init(fields: SMPFields) throws(SMPDecodeFault) {
      offset = try fields.required(Self.offsetName)
      data = try fields.value("data") ?? []
      announcement = try fields.value("len", of: Int.self).map {
        (size) throws(SMPDecodeFault) in try Announcement(size: size, fields: fields)
      }
    }

    package var body: CBORMap {
      CBORMap([
        "off": .integer(offset), "data": .bytes(data),
        "len": (announcement?.size).map(CBORItem.integer),
        "sha": announcement?.sha.map(CBORItem.bytes),
        "image": announcement?.image.map(CBORItem.integer),
        "upgrade": announcement?.isUpgradeOnly.map(CBORItem.boolean),
      ])
    }

    package struct Announcement: Equatable, Sendable {
      /// The size of the complete file in bytes.
      package var size: Int
      /// The SHA-256 of the complete file; a server uses it to recognize an earlier transfer.
      package var sha: [UInt8]?
      /// The number of the image; `nil` selects image 0.
      package var image: Int?
      /// Whether the server rejects an image whose version is not higher than the version of the
      /// running image.
      package var isUpgradeOnly: Bool?

      package init(
        size: Int, sha: [UInt8]?, image: Int? = nil, isUpgradeOnly: Bool? = nil
      ) {
        self.size = size
        self.sha = sha
        self.image = image
        self.isUpgradeOnly = isUpgradeOnly
      }

      fileprivate init(size: Int, fields: SMPFields) throws(SMPDecodeFault) {
        self.size = size
        sha = try fields.value("sha")
        image = try fields.value("image")
        isUpgradeOnly = try fields.value("upgrade")
      }
    }

    package struct Response: SMPResponse {
      /// The offset of the next byte that the server expects.
      package var offset: Int?
      /// Whether the complete data matches the announced SHA-256; only in the response to the last
      /// byte.
      package var matches: Bool?

      package init(offset: Int?, matches: Bool? = nil) {
        self.offset = offset
        self.matches = matches
      }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        offset = try fields.value("off")
        matches = try fields.value("match")
      }

      package var body: CBORMap {
        CBORMap([
          "off": offset.map(CBORItem.integer), "match": matches.map(CBORItem.boolean),
        ])
      }
    }
  }
}
