import OtaflashConsole
import OtaflashDelta
import OtaflashDevices
import OtaflashFirmware
import OtaflashSimulation
import OtaflashUpdate

/// The effect of patches on the update of a device: the rows of one image for each measured link.
package struct ImageBenchmark {
  /// The source of the results.
  private enum Source {
    case trial(ImageTrial)
    case forecast(ImageForecast)
  }

  /// The times in seconds to erase and to write a flash page. No device reports these times.
  package struct FlashTimes: Equatable, Sendable {
    package var erase: Double
    package var write: Double

    /// The times of a simulated device for a page of 4 KiB.
    package init(of profile: SimulationProfile) {
      erase = profile.eraseTime.inSeconds
      write = profile.writeTimePer4KiB.inSeconds
    }

    package init(erase: Double, write: Double) {
      self.erase = erase
      self.write = write
    }
  }

  package let pair: ImagePair
  package let flash: FlashTimes
  private let receiver: ReceiverFacts
  private let source: Source

  /// Updates a simulated device in virtual time.
  package init(
    _ pair: ImagePair, on profile: SimulationProfile, reporting receiver: ReceiverFacts,
    key: [UInt8]?
  ) throws(CommandFault) {
    self.pair = pair
    self.receiver = receiver
    flash = FlashTimes(of: profile)
    source = .trial(try ImageTrial(pair, on: profile, keepingPages: receiver.keepsPages, key: key))
  }

  /// Predicts the duration of updates.
  package init(_ pair: ImagePair, to receiver: ReceiverFacts, flash: FlashTimes) {
    self.pair = pair
    self.receiver = receiver
    self.flash = flash
    source = .forecast(ImageForecast(pair, to: receiver))
  }

  package var isPredicted: Bool {
    switch source {
    case .trial: false
    case .forecast: true
    }
  }

  /// Returns the rows of one link: the uncompressed image, the compressed image if it is
  /// worthwhile, and the patch.
  ///
  /// - Parameter profile: the simulated device with this link; `nil` for a prediction.
  package func rows(
    over link: BenchmarkRow, to profile: SimulationProfile?
  ) throws(CommandFault) -> [ImageRow] {
    let conditions = conditions(over: link)
    var found: [(content: Delivery.Content, bytes: Int, seconds: Double)] = []
    switch source {
    case .forecast(let forecast):
      found = forecast.deliveries(under: conditions).map {
        ($0.content, $0.bytes.count, $0.forecast.seconds)
      }
    case .trial(let trial):
      guard let profile else { preconditionFailure("a trial requires a simulated device") }
      for content in contents {
        let finding = try trial.sending(content, by: link.setting, to: profile)
        guard finding.content == content else { continue }
        found.append((content, finding.bytes, finding.took.inSeconds))
      }
    }
    let size = pair.new.bytes.count
    let worthwhile = found.filter {
      $0.content != .compressed || Double($0.bytes) < ImageBenchmark.worthwhile * Double(size)
    }
    return worthwhile.map { content, bytes, seconds in
      ImageRow(
        link: link, content: content, bytes: bytes, imageSize: size, seconds: seconds,
        isPredicted: isPredicted, plainSeconds: found[0].seconds, conditions: conditions,
        writtenShare: writtenShare)
    }
  }

  /// The number of pages of the new image that are equal in the old image, and the number of all
  /// pages.
  private var pages: (kept: Int, all: Int) {
    let (old, new, page) = (pair.old.bytes, pair.new.bytes, receiver.pageSize)
    let starts = Array(stride(from: 0, to: new.count, by: page))
    let kept = starts.filter { start in
      let end = min(start + page, new.count)
      return end <= old.count && old[start..<end] == new[start..<end]
    }
    return (kept.count, starts.count)
  }

  /// The share of the pages that the device writes.
  private var writtenShare: Double {
    guard receiver.keepsPages else { return 1 }
    let pages = self.pages
    return Double(pages.all - pages.kept) / Double(pages.all)
  }

  /// The maximum size of a worthwhile compressed image, as a fraction of the image.
  private static let worthwhile = 0.9

  private var contents: [Delivery.Content] {
    receiver.decoder == nil ? [.plain] : [.plain, .compressed, .difference]
  }

  private func conditions(over link: BenchmarkRow) -> DeliveryConditions {
    DeliveryConditions(
      bytesPerSecond: link.rate(at: 50), pageSize: receiver.pageSize,
      eraseSeconds: flash.erase, writeSeconds: flash.write,
      isErasedAhead: receiver.erasesAhead, keepsPages: receiver.keepsPages,
      receiveBuffer: receiver.bufferSize,
      decodingRate: receiver.decodingRate.map(Double.init))
  }
}

// MARK: - Text

extension ImageBenchmark {
  /// Notes on the interpretation of the rows.
  package var notes: [String] {
    var notes: [String] = []
    if isPredicted {
      notes.append(
        "predicted from the rate to the device's sink: no part of these images was sent")
    }
    notes.append(flashSentence)
    if let keptSentence { notes.append(keptSentence) }
    if let bootloaderSentence { notes.append(bootloaderSentence) }
    if receiver.decoder == nil {
      notes.append("the device does not support patches: images are sent uncompressed")
    } else if isPredicted, let running = receiver.running, running != ContentIdentity(pair.old) {
      notes.append("the device runs an image other than \(pair.old.name): \(running.words)")
    }
    return notes
  }

  /// A sentence such as `pages that do not change: 52 of 55; the slot is assumed to hold an image
  /// like app-1.2.0.bin, as after a swap`.
  private var keptSentence: String? {
    guard receiver.keepsPages else { return nil }
    let pages = self.pages
    return
      "pages that do not change: \(pages.kept) of \(pages.all); the slot is assumed to hold an "
      + "image like \(pair.old.name), as after a swap"
  }

  /// The time after the restart, and the effect of a compressed image, for an image of MCUboot, as
  /// a sentence; `nil` for other images, and for compressed or encrypted images.
  private var bootloaderSentence: String? {
    guard let costs = BootloaderCosts(of: pair.new, pageSize: receiver.pageSize) else { return nil }
    return costs.sentence(erase: flash.erase, write: flash.write)
  }

  /// A sentence such as `flash: at most 102.4 kB/s of image, 40 ms to write a page of 4,096 B,
  /// erased ahead`.
  private var flashSentence: String {
    let page = flash.write + (receiver.erasesAhead ? 0 : flash.erase)
    guard page > 0 else { return "flash: takes no time" }
    let times = [
      Text.decimal(flash.write * 1000) + " ms to write",
      receiver.erasesAhead ? nil : Text.decimal(flash.erase * 1000) + " ms to erase",
    ]
    return "flash: at most \(Text.rate(Double(receiver.pageSize) / page)) of image, "
      + times.compactMap(\.self).joined(separator: " and ")
      + " a page of \(Text.grouped(receiver.pageSize)) B"
      + (receiver.erasesAhead ? ", erased ahead" : "") + (isPredicted ? " (assumed)" : "")
  }
}

extension ContentIdentity {
  fileprivate init(_ image: FirmwareImage) {
    self.init(size: image.bytes.count, crc32: image.crc32)
  }
}
