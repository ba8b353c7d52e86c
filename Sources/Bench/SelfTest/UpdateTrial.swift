import OtaflashConsole
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// An update of a simulated board in virtual time, and the outcome that it must have.
package struct UpdateTrial: Sendable {
  package enum Wanted: Sendable {
    /// The new image must be verified to run, although the link was lost.
    ///
    /// - Parameter resumes: whether the transfer must resume; otherwise it may also start again.
    case proof(UpdateResult.Proof, resumes: Bool)
    /// The new image must be verified to run, and less than half of its size must have been sent.
    case patch
    /// The update must fail.
    ///
    /// - Parameter writes: whether bytes may have been written to flash before the failure.
    case fault(writes: Bool, @Sendable (UpdateFault) -> Bool)
  }

  /// The limit of virtual time for one update.
  private static let limit = Duration.seconds(3600)

  package let profile: String
  package var image = { @Sendable (device: DeviceKind) throws -> FirmwareImage in
    try SelfTestImage.of(device)
  }
  /// The image that is installed before the update; `nil` = the factory image.
  package var former: (@Sendable (DeviceKind) throws -> FirmwareImage)?
  package var options = UpdateOptions()
  package let wanted: Wanted

  /// The observations during an update.
  private struct Account: Sendable {
    var result: Result<UpdateResult, UpdateFault>
    /// The offsets at which the link was lost.
    var losses: [Int]
    /// The offsets at which the transfer resumed.
    var resumes: [Int]
    var imageSize: Int
    /// The number of bytes written to the device's flash.
    var written: Int
  }

  package func perform() throws(SelfTestCheck.Failure) -> String {
    let account: Account
    do {
      account = try take()
    } catch {
      throw SelfTestCheck.Failure(of: error)
    }
    return try verdict(on: account)
  }

  private func take() throws -> Account {
    let profile = try SimulationProfile(parsing: profile)
    let image = try image(profile.device)
    let former = try former?(profile.device)
    return try simulate(boards: [profile], limit: Self.limit) { boards, clock in
      let board = boards[0]
      var options = options
      if let former {
        _ = try await FirmwareUpdate(image: former, options: options)
          .run(on: board.dialer, clock: clock)
        options.patches.bases = BaseFinder { _ in former.bytes }
        options.patches.policy = .require
      }
      return await Self.update(board, to: image, options, clock)
    }
  }

  private static func update(
    _ board: SimulatedBoard, to image: FirmwareImage, _ options: UpdateOptions,
    _ clock: VirtualClock
  ) async -> Account {
    let before = board.counters.flash.bytesWritten
    let seen = Mutex<(losses: [Int], resumes: [Int])>(([], []))
    let update = FirmwareUpdate(image: image, options: options) { event in
      switch event {
      case .linkLost(_, let acknowledged, _, _): seen.withLock { $0.losses.append(acknowledged) }
      case .transferBegan(let offset, _, true): seen.withLock { $0.resumes.append(offset) }
      default: break
      }
    }
    let result: Result<UpdateResult, UpdateFault>
    do throws(UpdateFault) {
      result = .success(try await update.run(on: board.dialer, clock: clock))
    } catch {
      result = .failure(error)
    }
    let (losses, resumes) = seen.withLock { $0 }
    return Account(
      result: result, losses: losses, resumes: resumes, imageSize: image.bytes.count,
      written: board.counters.flash.bytesWritten - before)
  }

  private func verdict(on account: Account) throws(SelfTestCheck.Failure) -> String {
    switch (wanted, account.result) {
    case (.proof(let proof, let resumes), .success(let result)):
      try expect(result.proof == proof, "the proof is \(result.proof.rawValue), not \(proof)")
      // A device that restarts after a lost link can also lose the next link.
      try expect(!account.losses.isEmpty, "the link was not lost")
      try expect(!resumes || !account.resumes.isEmpty, "it did not resume")
      let start = account.resumes.first.map { "resumed at \(Text.grouped($0))" } ?? "started over"
      return """
        \(Text.grouped(account.imageSize)) B, link lost at \(Text.grouped(account.losses[0])), \
        \(start), verified by \(proof.words)
        """
    case (.patch, .success(let result)):
      try expect(result.proof == .readBack, "the proof is \(result.proof.rawValue)")
      try expect(result.bytesSent < account.imageSize / 2, "\(result.bytesSent) B were sent")
      return """
        \(Text.grouped(result.bytesSent)) B sent for \(Text.grouped(account.imageSize)), verified \
        by \(result.proof.words)
        """
    case (.fault(let writes, let isWanted), .failure(let fault)):
      try expect(isWanted(fault), "unexpected fault: \(fault.summary)")
      try expect(writes || account.written == 0, "\(account.written) B were written before")
      return fault.summary
    case (.proof, .failure(let fault)), (.patch, .failure(let fault)):
      throw SelfTestCheck.Failure(fault.summary)
    case (.fault, .success(let result)):
      throw SelfTestCheck.Failure("the outcome was \(result.outcome.rawValue)")
    }
  }

  private func expect(
    _ isSo: Bool, _ otherwise: @autoclosure () -> String
  ) throws(SelfTestCheck.Failure) {
    if !isSo { throw SelfTestCheck.Failure(otherwise()) }
  }
}

extension UpdateResult.Proof {
  fileprivate var words: String {
    switch self {
    case .none: "nothing"
    case .restarted: "its restart"
    case .bootloader: "its bootloader"
    case .changed: "values of the application"
    case .version: "the version that the application reports"
    case .readBack: "reading back the running image"
    }
  }
}
