import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Sizes of data writes that are tried while an image is sent.
extension OTASession {
  /// What an upload tries, and for which kind of link and device.
  struct SizeSearch {
    fileprivate var trial: SizeTrial
    fileprivate let setting: SizeMemory.Setting
    /// The bytes that were acknowledged when it was looked at last.
    fileprivate var seen: Int

    /// The upload waited for the device while its flash was behind.
    mutating func waitedForFlash(_ time: Duration) { trial.waitedForFlash(time) }
  }

  /// Bytes of data that an interval's worth of must fit the device's window, so that it is the air
  /// that holds a transfer back: a Status that opens the window comes two intervals behind.
  private static let intervalsInWindow = 3

  /// Begins a search where there is something to find out, before the first data write: over a
  /// radio of which the interval is not known, or that may bring less than it ought to. A size that
  /// is remembered is taken at once.
  func beginSearch(
    _ transfer: inout OTATransfer
  ) async throws(UpdateFault) -> SizeSearch? {
    let (facts, options) = (client.linkFacts, context.options)
    guard facts.usesRadio, options.triesSizes, options.chunk == nil, mode != .withResponse,
      !hasChunkCeiling
    else { return nil }
    if let settled = retained.value.settledSize, settled.mtu == client.mtu {
      transfer.write(inChunksOf: min(settled.chunk, longestChunk))
      return nil
    }
    let setting = SizeMemory.Setting(
      device: "\(Self.updateProtocol) \(info.hardware)", mtu: client.mtu,
      phy: facts.phy, connectionInterval: facts.connectionInterval)
    let remembered = options.sizes?.recall(setting).flatMap { size in
      (1...longestChunk).contains(size.chunk) && size.bytesPerSecond > 0 ? size : nil
    }
    if let remembered { take(remembered, &transfer) }
    let window = min(info.bufferSize, options.windowLimit ?? .max)
    let bounds = SizeTrial.Bounds(
      left: transfer.total - transfer.next, window: window, bytesPerAnswer: info.bytesPerStatus)
    guard let bounds,
      let trial = try await trial(bounds, window, remembered, &transfer)
    else { return nil }
    // A link that is lost before anything was found out leaves this.
    retained.update { $0.settledSize = (chunk: transfer.chunk, client.mtu) }
    return SizeSearch(trial: trial, setting: setting, seen: transfer.verified)
  }

  private func take(_ size: SizeMemory.Size, _ transfer: inout OTATransfer) {
    transfer.write(inChunksOf: size.chunk)
    retained.update { $0.settledSize = (chunk: size.chunk, client.mtu) }
    let kept = SizeReport.Rate(chunk: size.chunk, bytesPerSecond: size.bytesPerSecond)
    context.observe(.sized(SizeReport(tried: [], kept: kept)))
  }

  /// `nil` where nothing is to be found out.
  private func trial(
    _ bounds: SizeTrial.Bounds, _ window: Int, _ remembered: SizeMemory.Size?,
    _ transfer: inout OTATransfer
  ) async throws(UpdateFault) -> SizeTrial? {
    let facts = client.linkFacts
    let candidates = SizeCandidates(
      sizing: PDUSizing(facts, isEncrypted: client.security.contains(.encryption)),
      mtu: ATTMTU(clamping: longestChunk + OTAService.dataHeaderSize + 3),
      header: OTAService.dataHeaderSize, bytesPerAnswer: info.bytesPerStatus)
    let first = transfer.chunk
    let model = chunkSize
    guard let interval = facts.connectionInterval else {
      let rooms =
        remembered == nil
        ? SizeCandidates.rooms(for: try await roundTrip(&transfer))
        : SizeCandidates.usualIntervals
      let others = candidates.others(than: first, rooms: rooms)
      guard !others.isEmpty else { return nil }
      return SizeTrial(
        first: first, at: transfer.next, bounds, expecting: remembered?.bytesPerSecond
      ) { _ in (model == first ? [] : [model]) + others.filter { $0 != model } }
    }
    let ought = candidates.bytesPerSecond(chunk: first, interval: interval)
    let needed = ought * (interval / .seconds(1)) * Double(Self.intervalsInWindow)
    guard remembered != nil || (ought > 0 && Double(window) >= needed) else { return nil }
    return SizeTrial(
      first: first, at: transfer.next, bounds, expecting: remembered?.bytesPerSecond ?? ought
    ) { share in
      // What is left of an event, and half of what whole packets may leave of that.
      let share = min(1, share)
      let others = candidates.others(
        than: first, rooms: [interval * share, interval * ((1 + share) / 2)])
      return (model == first ? [] : [model]) + others.filter { $0 != model }
    }
  }

  /// Of a question that goes out right behind an answer, in whole connection events.
  private func roundTrip(_ transfer: inout OTATransfer) async throws(UpdateFault) -> Duration {
    let asked = context.clock.now
    let status = try await readStatus()
    let took = asked.duration(to: context.clock.now)
    try await apply(status, isAnswer: true, to: &transfer)
    return took
  }

  /// Lets a search see what was acknowledged meanwhile, and writes as it says.
  func follow(_ search: inout SizeSearch?, _ transfer: inout OTATransfer) {
    guard var found = search, transfer.verified != found.seen else { return }
    found.seen = transfer.verified
    let step = found.trial.acknowledged(
      transfer.verified, next: transfer.next, isRefusing: transfer.isRefused,
      at: context.clock.now)
    search = found
    perform(step, &search, &transfer)
  }

  /// Ends a search with what it knows: sending went back, or everything is sent.
  func end(_ search: inout SizeSearch?, _ transfer: inout OTATransfer) {
    guard var found = search else { return }
    let step = found.trial.disturbed()
    search = found
    perform(step, &search, &transfer)
  }

  private func perform(
    _ step: SizeTrial.Step, _ search: inout SizeSearch?, _ transfer: inout OTATransfer
  ) {
    guard let found = search else { return }
    switch step {
    case .goOn: return
    case .write(let chunk):
      transfer.write(inChunksOf: chunk)
      // A link that is lost meanwhile leaves what is known.
      retained.update { $0.settledSize = (chunk: found.trial.best, client.mtu) }
    case .over(let outcome):
      search = nil
      transfer.write(inChunksOf: outcome.kept)
      retained.update { $0.settledSize = (chunk: outcome.kept, client.mtu) }
      guard outcome.rates.count > 1,
        let kept = outcome.rates.first(where: { $0.chunk == outcome.kept })
      else { return }
      context.observe(.sized(SizeReport(tried: outcome.rates, kept: kept)))
      guard outcome.isWhole else { return }
      context.options.sizes?.keep(
        found.setting,
        SizeMemory.Size(chunk: kept.chunk, bytesPerSecond: kept.bytesPerSecond))
    }
  }
}
