import OtaflashFirmware
import OtaflashWire
import Testing

@testable import OtaflashUpdate

/// Tests of the facts that follow from a server's responses about itself.
@Suite struct SMPFactsTests {
  typealias Slot = SMPImage.Slot

  private static func slot(
    _ image: Int?, _ slot: Int, hash: UInt8, _ flags: Slot.Flags
  ) -> Slot {
    Slot(
      image: image, slot: slot, version: "1.0.0", hash: [UInt8](repeating: hash, count: 32),
      flags: flags)
  }

  private static func sizes(_ images: [Int]) -> SMPImage.SlotInfo.Response {
    SMPImage.SlotInfo.Response(images: images.map { SMPImage.SlotInfo.Image(image: $0, slots: []) })
  }

  @Test("the images of a device follow from its slots, otherwise from their numbering")
  func images() {
    let only = SMPImage.State(slots: [Self.slot(nil, 0, hash: 1, .active)])
    let numbered = SMPImage.State(slots: [Self.slot(0, 0, hash: 1, .active)])
    #expect(SMPFacts(state: only).images == [0])
    #expect(SMPFacts(state: numbered).images == nil, "a slot without an image is not listed")
    #expect(SMPFacts(state: SMPImage.State(slots: [])).images == nil)
    #expect(SMPFacts(state: numbered, sizes: Self.sizes([0, 1])).images == [0, 1])
    #expect(SMPFacts(state: only, sizes: Self.sizes([0])).images == [0])
  }

  /// Servers up to Zephyr 3.4 report only the application's image as active
  /// (CONFIG_MCUMGR_GRP_IMG).
  @Test(arguments: [Slot.Flags.active, []] as [SMPImage.Slot.Flags])
  func anotherImageIsOnTrialUntilItIsConfirmed(active: SMPImage.Slot.Flags) throws {
    let new = try bootable(MCUbootVersion(1, 0, 0), place: MCUbootPlace(imageIndex: 1))
    let hash = try #require(new.mcuboot?.hash?.bytes)
    func list(_ flags: SMPImage.Slot.Flags) -> SMPImage.State {
      SMPImage.State(slots: [
        Self.slot(0, 0, hash: 9, [.active, .confirmed]),
        Slot(image: 1, slot: 0, version: "1.0.0", hash: hash, flags: flags.union(active)),
        Self.slot(1, 1, hash: 8, .confirmed),
      ])
    }
    let trial = RunningImage(list([]), mode: .swapUsingScratch, expecting: new)
    #expect(trial.agreement == .same && trial.isOnTrial)
    let kept = RunningImage(list(.confirmed), mode: .swapUsingScratch, expecting: new)
    #expect(kept.agreement == .same && !kept.isOnTrial)
    #expect(kept.build == nil, "build 0 is not written")
    #expect(!RunningImage(list([]), mode: .overwriteOnly, expecting: new).isOnTrial)
  }

  @Test(
    "a pending image was not rejected", arguments: [Slot.Flags.active, []])
  func waiting(active: SMPImage.Slot.Flags) throws {
    let new = try bootable(MCUbootVersion(1, 0, 0), place: MCUbootPlace(imageIndex: 1))
    let hash = try #require(new.mcuboot?.hash?.bytes)
    func outcome(_ flags: SMPImage.Slot.Flags) -> DeviceReport.BootOutcome {
      let state = SMPImage.State(slots: [
        Self.slot(0, 0, hash: 9, [.active, .confirmed]),
        Self.slot(1, 0, hash: 8, active.union(.confirmed)),
        Slot(image: 1, slot: 1, version: "1.0.0", hash: hash, flags: flags),
      ])
      return RunningImage(state, mode: .swapUsingScratch, expecting: new).outcome
    }
    #expect(outcome(.pending) == .normal)
    #expect(outcome([]) == .rejected)
  }

  @Test("the limit for a server that moves pages includes the pages of its slots")
  func modesThatMove() {
    #expect(
      MCUbootMode.allCases.filter(\.movesPages)
        == [.unknown, .swapUsingScratch, .overwriteOnly, .swapWithoutScratch])
  }
}
