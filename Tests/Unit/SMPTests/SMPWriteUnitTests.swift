import Testing

@testable import OtaflashUpdate

/// Tests of the flash words of servers that accept only complete words.
@Suite struct SMPWriteUnitTests {
  @Test(
    "the first request determines each word up to 32 exactly",
    arguments: [1, 2, 4, 8, 16, 32] as [Int])
  func learned(word: Int) throws {
    for most in SMPWriteUnit.leastTelling...2_500 {
      let sent = SMPWriteUnit.unknown.cut(most)
      #expect(most - sent < 32 && sent >= SMPPacketSize.headOfImage)
      #expect(SMPWriteUnit(sent: sent, taken: sent / word * word) == .known(word), "\(most)")
    }
  }

  /// If a length is compatible with 32, the word may also be larger, but no known device has a
  /// larger word.
  @Test(
    "a larger word is determined if no smaller word matches", arguments: [64, 128, 256, 512])
  func large(word: Int) throws {
    for most in word...2_500 {
      let sent = SMPWriteUnit.unknown.cut(most)
      guard sent >= word else { continue }
      guard case .known(let learned) = SMPWriteUnit(sent: sent, taken: sent / word * word) else {
        throw Mismatch(most)
      }
      #expect(sent % word < 32 ? word.isMultiple(of: learned) : learned.isMultiple(of: word))
    }
  }

  @Test("shorter requests determine a word that is not too small", arguments: 32...62)
  func short(most: Int) {
    let sent = SMPWriteUnit.unknown.cut(most)
    #expect(32...most ~= sent)
    for word in [1, 2, 4, 8, 16, 32] {
      guard case .known(let learned) = SMPWriteUnit(sent: sent, taken: sent / word * word) else {
        continue
      }
      #expect(learned.isMultiple(of: word), "\(word)")
    }
  }

  @Test("a number that no word explains determines no word")
  func unexplained() {
    #expect(SMPWriteUnit(sent: 447, taken: 400) == nil)
    #expect(SMPWriteUnit(sent: 447, taken: 0) == nil)
    #expect(SMPWriteUnit(sent: 447, taken: 4_000) == nil)
    #expect(SMPWriteUnit(sent: 32, taken: 32) == nil, "every word up to 32 matches")
  }

  @Test("requests are complete words, except the last")
  func cut() {
    let size = SMPPacketSize(
      bytes: 495, announcement: .init(size: 70_000, sha: [UInt8](repeating: 1, count: 32)))
    #expect(size.data(at: 66_000, of: 70_000, to: .known(1)) == 469)
    #expect(size.data(at: 66_000, of: 70_000, to: .known(8)) == 464)
    #expect(size.data(at: 66_000, of: 70_000, to: .unknown) == 447)
    #expect(size.data(at: 69_600, of: 70_000, to: .known(8)) == 400)
    #expect(size.data(at: 69_599, of: 70_000, to: .unknown) == 401)
  }

  @Test("the caller's limit is also rounded down to words, but never to 0")
  func wish() {
    let size = SMPPacketSize(
      bytes: 495, announcement: .init(size: 70_000, sha: nil), dataLimit: 12)
    #expect(size.data(at: 66_000, of: 70_000, to: .known(1)) == 12)
    #expect(size.data(at: 66_000, of: 70_000, to: .known(8)) == 8)
    #expect(size.data(at: 66_000, of: 70_000, to: .known(32)) == 32)
    #expect(size.data(at: 0, of: 70_000, to: .unknown) == 63, "the determining request is longer")
  }
}
