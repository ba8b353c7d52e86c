import OtaflashFirmware

extension OTAServiceReport.ResumePoint {
  /// Returns whether the device holds the start of this image.
  func isPrefix(of prefixes: PrefixChecksums, _ image: FirmwareImage) -> Bool {
    imageSize == prefixes.count && imageCRC32 == image.crc32 && offset <= prefixes.count
      && prefixes.checksum(ofFirst: offset) == heldCRC32
  }
}

extension DeviceReport {
  /// Returns the offset at which a transfer of `image` would start: the end of the held bytes if
  /// they belong to `image`, otherwise 0.
  public func resumeOffset(for image: FirmwareImage) -> Int {
    guard let resumePoint = otaService?.resumePoint,
      resumePoint.isPrefix(of: PrefixChecksums(image.bytes), image)
    else {
      return 0
    }
    return resumePoint.offset
  }

  init(
    info: OTAInfo, running: OTARunning, resumePoint: OTAResumePoint, patching: OTAPatching?
  ) {
    self.init(.otaflash, protocolVersion: Int(info.version))
    hardware = info.hardware
    runningVersion = running.knownVersion
    runningCRC32 = running.imageCRC32
    slotSize = info.slotSize
    bufferSize = info.bufferSize
    needsAuthorization = info.needsAuthorization
    isOnTrial = running.isOnTrial
    if info.takesPatches { deliveryMethods = [.patches] }
    details = .otaService(
      OTAServiceReport(
        info: info, running: running, resumePoint: resumePoint, patching: patching))
  }
}

extension OTAServiceReport {
  fileprivate init(
    info: OTAInfo, running: OTARunning, resumePoint: OTAResumePoint, patching: OTAPatching?
  ) {
    self.init(
      pageSize: info.pageSize, largestChunk: info.largestChunk,
      lastBoot: DeviceReport.BootOutcome(running.bootOutcome))
    if resumePoint.imageSize > 0 {
      self.resumePoint = ResumePoint(
        imageSize: resumePoint.imageSize, imageCRC32: resumePoint.imageCRC32,
        offset: resumePoint.nextOffset, heldCRC32: resumePoint.heldCRC32)
    }
    heldStream = patching?.begun.map { stream in
      HeldStream(stream: stream, offset: patching?.point.nextOffset ?? 0)
    }
  }
}

extension OTARunning {
  /// The running version; `nil` for 0.0.0, which the host announces for an image with unknown
  /// version (`UpdateOptions.allowsUnknown`).
  fileprivate var knownVersion: FirmwareVersion? { version == .unknown ? nil : version }
}

extension RunningImage {
  init(_ running: OTARunning, expecting image: FirmwareImage) {
    let isSame = running.imageCRC32 == image.crc32 && running.imageSize == image.bytes.count
    self.init(
      version: running.knownVersion, agreement: isSame ? .same : .different,
      outcome: DeviceReport.BootOutcome(running.bootOutcome), isOnTrial: running.isOnTrial)
  }
}

extension DeviceReport.BootOutcome {
  init(_ outcome: OTARunning.BootOutcome) {
    self =
      switch outcome {
      case .normal: .normal
      case .activated: .activated
      case .rejected: .rejected
      }
  }
}
