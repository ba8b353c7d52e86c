import OtaflashATT
import OtaflashWire
import Testing

@testable import OtaflashUpdate

@Suite struct SMPPacketSizeTests {
  private static let announcement = SMPImage.Upload.Announcement(
    size: 70_000, sha: [UInt8](repeating: 0xAB, count: 32))

  @Test(
    "a request contains exactly this number of image bytes",
    arguments: [
      (73, 48, 6), (244, 219, 176), (384, 358, 315), (495, 469, 426), (2475, 2449, 2406),
    ])
  func checkValues(bytes: Int, later: Int, first: Int) {
    let size = SMPPacketSize(bytes: bytes, announcement: Self.announcement)
    #expect(size.data(at: 65_536) == later)
    #expect(size.data(at: 0) == first)
  }

  @Test("no request exceeds the limit, and one more byte would exceed it")
  func exact() {
    for bytes in 60...700 {
      let size = SMPPacketSize(bytes: bytes, announcement: Self.announcement)
      for offset in [0, 1, 23, 24, 255, 256, 65_535, 65_536] {
        func length(_ count: Int) -> Int {
          SMPMessage(
            SMPImage.Upload(
              offset: offset, data: [UInt8](repeating: 0, count: count),
              announcement: offset == 0 ? Self.announcement : nil),
            sequence: 0
          ).encoded.count
        }
        let data = size.data(at: offset)
        #expect(length(data) <= bytes || data == 0, "\(bytes) at \(offset)")
        #expect(length(data + 1) > bytes, "\(bytes) at \(offset)")
      }
    }
  }

  @Test("the shortest request contains an MCUboot header")
  func least() {
    let least = SMPPacketSize.least(for: Self.announcement)
    #expect(least == 100)
    #expect(SMPPacketSize(bytes: least, announcement: Self.announcement).data(at: 0) == 32)
    #expect(SMPPacketSize(bytes: least - 1, announcement: Self.announcement).data(at: 0) == 31)
    #expect(SMPPacketSize(bytes: 20, announcement: Self.announcement).data(at: 0) == 0)
  }

  @Test("the caller's limit applies, except to the header")
  func wish() {
    let size = SMPPacketSize(bytes: 495, announcement: Self.announcement, dataLimit: 16)
    #expect(size.data(at: 65_536) == 16 && size.data(at: 0) == 32)
  }

  @Test(
    "a short last fragment is omitted if the transfer is then faster",
    arguments: [
      // The sizes are five complete fragments; ten fragments and a part; one fragment and a half,
      // where the half is worthwhile; one fragment; less than one fragment.
      (2475, 495, 2475), (2475, 244, 2440), (384, 244, 384), (244, 244, 244), (200, 244, 200),
    ])
  func wholeFragments(buffer: Int, fragment: Int, best: Int) {
    #expect(
      SMPPacketSize.best(buffer: buffer, fragment: fragment, sizing: PDUSizing()) == best)
  }
}
