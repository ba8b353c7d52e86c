import OtaflashATT
import OtaflashGATT
import OtaflashWire

/// Lists the slots of a device with MCUboot, selects the image that its bootloader starts, or
/// erases a slot.
public struct SMPSlots: Sendable {
  /// The action on the slots.
  public enum Action: Equatable, Sendable {
    /// Lists the slots without changing them.
    case list
    /// Starts an image once at the next restart: the image in the inactive slot, or the image whose
    /// hash starts with the prefix.
    case test(hashPrefix: [UInt8]?)
    /// Makes the running image permanent.
    case confirm
    /// Erases an inactive slot.
    case erase(slot: Int)
  }

  /// The state of the slots after the action.
  public struct Listing: Equatable, Sendable {
    /// The slots of every image, in the device's order.
    public let slots: [SlotReport]
    /// The bootloader's mode; `nil` if the device does not report it.
    public let mode: MCUbootMode?
    /// The sizes of the slots that the device reports.
    public let sizes: [Size]

    /// The size of a slot, as the server reports it.
    public struct Size: Equatable, Sendable {
      /// The image's number, 0 or more.
      public let image: Int
      /// The slot's number, 0 or 1.
      public let slot: Int
      /// The slot's size in bytes.
      public let bytes: Int
    }
  }

  /// The action.
  public let action: Action
  /// The number of the image; 0 if the device has only one image.
  public let image: Int

  /// Creates an action on the slots of an image.
  ///
  /// - Parameters:
  ///   - action: the action on the slots.
  ///   - image: 0 or more.
  public init(_ action: Action, image: Int = 0) {
    precondition(image >= 0)
    self.action = action
    self.image = image
  }

  /// The action as a command for a peripheral's queue.
  ///
  /// The command fails with `.protocolNotOffered` or `.noUpdateService` for a device without SMP,
  /// and with `.declined` if the device refuses the action, or if the action is impossible: the
  /// slot to erase is in use, or not exactly one image matches.
  public var command: Command<PeripheralTurn, Listing, UpdateFault> {
    Command("slots") { (turn) async throws(UpdateFault) -> Listing in
      defer { turn.disconnect() }
      let channel = try await SMPChannel(openedIn: turn)
      let facts = try await SMPFacts(asking: channel)
      let state = try await perform(facts, over: channel)
      return Listing(facts, state)
    }
  }

  /// Performs the action over a new link.
  public func run(
    on dialer: Dialer, clock: any LinkClock
  ) async throws(UpdateFault) -> Listing {
    try await command.run(on: dialer, clock: clock)
  }

  /// Performs the action, and returns the state after it.
  private func perform(
    _ facts: SMPFacts, over channel: SMPChannel
  ) async throws(UpdateFault) -> SMPImage.State {
    switch action {
    case .list: return facts.state
    case .test(let prefix):
      let hash = try Self.candidate(facts.state.slots(of: image), prefix)
      return try await write(
        SMPImage.WriteState(hash: hash, isConfirmed: false), .activate, channel)
    case .confirm:
      // Only the application (image 0) can be confirmed without its hash.
      let hash = image == 0 ? nil : facts.state.running(image)?.hash
      return try await write(
        SMPImage.WriteState(hash: hash, isConfirmed: true), .confirm, channel)
    case .erase(let slot):
      guard facts.state.running(image)?.slot != slot else {
        throw .declined(.prepare, .runs(slot))
      }
      let result = try await channel.ask(
        SMPImage.Erase(slot: 2 * image + slot), .prepare, within: SMPSession.eraseLimit)
      if case .failure(let refusal) = result {
        throw .declined(.prepare, facts.inWords(refusal, image: image))
      }
      return try await channel.perform(SMPImage.ReadState(), .verify)
    }
  }

  private func write(
    _ request: SMPImage.WriteState, _ stage: UpdateStage, _ channel: SMPChannel
  ) async throws(UpdateFault) -> SMPImage.State {
    let response = try await channel.perform(request, stage, within: SMPSession.eraseLimit)
    if let state = response.state { return state }
    return try await channel.perform(SMPImage.ReadState(), stage)
  }

  /// Returns the hash of the only image that has the prefix or, without a prefix, of the only image
  /// that does not run.
  ///
  /// - Throws: `.declined` if no image or several images match.
  private static func candidate(
    _ slots: [SMPImage.Slot], _ prefix: [UInt8]?
  ) throws(UpdateFault) -> [UInt8] {
    let matching = slots.filter { slot in
      guard let hash = slot.hash else { return false }
      return prefix.map { hash.starts(with: $0) } ?? !slot.flags.contains(.active)
    }
    guard let first = matching.first?.hash else { throw .declined(.activate, .noCandidate) }
    guard matching.count == 1 else { throw .declined(.activate, .severalCandidates) }
    return first
  }
}

extension SMPChannel {
  convenience init(openedIn turn: PeripheralTurn) async throws(UpdateFault) {
    let context = UpdateContext(
      clock: turn.clock, options: UpdateOptions(), tally: UpdateProgressState(), observe: { _ in })
    try await self.init(openedIn: turn, context)
  }

  convenience init(
    openedIn turn: PeripheralTurn, _ context: UpdateContext
  ) async throws(UpdateFault) {
    let options = context.options
    let client = try await turn.connect(requestingMTU: options.mtu)
    let offered = try await ProtocolChoice(protocols: UpdateProtocol.all)
      .offered(by: client).map { $0.updateProtocol }
    guard offered.contains(.smp) else {
      throw offered.isEmpty
        ? .noUpdateService : .protocolNotOffered(asked: .smp, offered: offered)
    }
    context.observe(.connected(LinkReport(of: client)))
    try await self.init(on: client, context)
  }
}

extension SMPSlots.Listing {
  init(_ facts: SMPFacts, _ state: SMPImage.State) {
    slots = state.slots.map(SlotReport.init)
    mode = facts.bootloader.mode.map(MCUbootMode.init)
    sizes = (facts.sizes?.images ?? []).flatMap { image in
      image.slots.compactMap { slot in
        slot.size.map { Size(image: image.image, slot: slot.slot, bytes: $0) }
      }
    }
  }
}
