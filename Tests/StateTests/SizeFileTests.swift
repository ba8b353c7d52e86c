import Foundation
import OtaflashATT
import OtaflashUpdate
import Testing

@testable import OtaflashState

/// Sizes of data writes outlive a run: for their setting, for a while, and not too many.
@Suite struct SizeFileTests {
  private static let size = SizeMemory.Size(chunk: 470, bytesPerSecond: 165_000)

  private static func setting(
    _ device: String = "otaflash 0x0000A001", mtu: Int = 498, phy: PHY? = .le2M,
    interval: Duration? = .microseconds(7500)
  ) -> SizeMemory.Setting {
    SizeMemory.Setting(device: device, mtu: mtu, phy: phy, connectionInterval: interval)
  }

  @Test func theyAreKeptForTheirSettingAndAdapter() throws {
    let directory = try TemporaryDirectory()
    let file = SizeFile(in: try directory.state())
    #expect(try file.size(for: Self.setting(), on: "hci0", at: 1000).content == nil)
    #expect(try file.keep(Self.size, for: Self.setting(), on: "hci0", at: 1000) == nil)
    #expect(try file.size(for: Self.setting(), on: "hci0", at: 2000).content == Self.size)
    for other in [
      Self.setting("otaflash 0x0000A002"), Self.setting(mtu: 247), Self.setting(phy: nil),
      Self.setting(interval: nil), Self.setting(interval: .milliseconds(15)),
    ] {
      #expect(try file.size(for: other, on: "hci0", at: 2000).content == nil)
    }
    #expect(try file.size(for: Self.setting(), on: "hci1", at: 2000).content == nil)
    // The next one takes its place.
    let next = SizeMemory.Size(chunk: 240, bytesPerSecond: 90_000)
    _ = try file.keep(next, for: Self.setting(), on: "hci0", at: 3000)
    #expect(try file.size(for: Self.setting(), on: "hci0", at: 3000).content == next)
  }

  @Test func oldOnesAreNotToldAndFallOut() throws {
    let directory = try TemporaryDirectory()
    let state = try directory.state()
    let file = SizeFile(in: state)
    _ = try file.keep(Self.size, for: Self.setting(), on: "hci0", at: 0)
    #expect(try file.size(for: Self.setting(), on: "hci0", at: 90 * 86_400).content != nil)
    #expect(try file.size(for: Self.setting(), on: "hci0", at: 90 * 86_400 + 1).content == nil)
    _ = try file.keep(Self.size, for: Self.setting(mtu: 247), on: "hci0", at: 91 * 86_400)
    #expect(!(try content(state.sizesPath).contains("498")))
  }

  @Test func theOldestFallOutBeyondTheCapacity() throws {
    let directory = try TemporaryDirectory()
    let file = SizeFile(in: try directory.state())
    for number in 0...SizeFile.capacity {
      _ = try file.keep(
        Self.size, for: Self.setting("device \(number)"), on: "hci0", at: Double(number))
    }
    func found(_ number: Int) throws -> SizeMemory.Size? {
      try file.size(for: Self.setting("device \(number)"), on: "hci0", at: 500).content
    }
    #expect(try found(0) == nil)
    #expect(try found(1) != nil && found(SizeFile.capacity) != nil)
  }

  @Test func whatNobodyWroteIsPutAside() throws {
    let directory = try TemporaryDirectory()
    let state = try directory.state()
    let file = SizeFile(in: state)
    for text in ["{", #"{"format":1}"#, #"{"format":1,"sizes":[{"chunk":0}]}"#] {
      try text.write(toFile: state.sizesPath, atomically: true, encoding: .utf8)
      let found = try file.size(for: Self.setting(), on: "hci0", at: 0)
      #expect(found.content == nil && found.setAside == state.sizesPath + ".damaged")
    }
    // What cannot be read back is not written.
    let odd = SizeMemory.Size(chunk: 470, bytesPerSecond: .infinity)
    #expect(try file.keep(odd, for: Self.setting(), on: "hci0", at: 0) == nil)
    let long = Self.setting(String(repeating: "x", count: 5000))
    #expect(try file.keep(Self.size, for: long, on: "hci0", at: 0) == nil)
    #expect(try !names(in: state.path).contains("sizes.json"))
  }

  /// A later version's members outlive a change by this one.
  @Test func whatALaterVersionAddedStays() throws {
    let directory = try TemporaryDirectory()
    let state = try directory.state()
    let file = SizeFile(in: state)
    _ = try file.keep(Self.size, for: Self.setting(), on: "hci0", at: 0)
    let text = try content(state.sizesPath)
    try text.replacing("\"format\"", with: "\"later\" : 5, \"format\"")
      .write(toFile: state.sizesPath, atomically: true, encoding: .utf8)
    _ = try file.keep(Self.size, for: Self.setting(mtu: 247), on: "hci0", at: 0)
    #expect(try content(state.sizesPath).contains("\"later\""))
  }
}
