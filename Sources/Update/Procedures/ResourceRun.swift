import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The state of a transfer of resources over all its connections.
struct ResourceRun {
  /// The maximum number of times that one file is sent because the file that was read back differs.
  private static let sendingsMaximum = 3

  let package: ResourcePackage
  let context: UpdateContext
  private(set) var outcome = ResourceUpdate.Outcome()
  /// The indices of files whose content on the device was compared or read back in this run.
  private var done: Set<Int> = []
  /// The index of the file whose move was requested last; its answer may have been lost.
  private var moved: Int?

  init(package: ResourcePackage, context: UpdateContext) {
    (self.package, self.context) = (package, context)
  }

  /// Performs the steps of one connection.
  mutating func perform(on client: GATTClient) async throws(UpdateFault) {
    outcome.connections += 1
    context.observe(.connected(LinkReport(of: client)))
    let files = RemoteFiles(channel: try await FileTransferChannel(on: client, context))
    do throws(GATTFault) {
      outcome.version = try await ApplicationIdentity.read(from: client).version
    } catch {
      throw .gatt(.connect, error)
    }
    try await measuring(.prepare) { (run) async throws(UpdateFault) in
      try await run.compare(on: files)
    }
    guard !context.options.isDryRun else { return }
    if done.count < package.files.count {
      try await measuring(.upload) { (run) async throws(UpdateFault) in
        try await run.send(to: files)
      }
    }
    try await deleteObsolete(on: files)
  }

  private mutating func measuring(
    _ stage: UpdateStage, _ step: (inout ResourceRun) async throws(UpdateFault) -> Void
  ) async throws(UpdateFault) {
    context.observe(.stageBegan(stage))
    let began = context.clock.now
    try await step(&self)
    context.observe(.stageEnded(stage, took: began.duration(to: context.clock.now)))
  }

  // MARK: Comparing

  /// Compares the files on the device with the package.
  private mutating func compare(on files: RemoteFiles) async throws(UpdateFault) {
    guard !context.options.sendsAnyway else { return }
    for (index, file) in package.files.enumerated() where !done.contains(index) {
      let comparison = try await files.compare(file.path, with: file.bytes, .prepare)
      guard comparison == .equal else { continue }
      done.insert(index)
      if index == moved {
        outcome.sent.append(file.path)
      } else {
        outcome.present.append(file.path)
      }
    }
  }

  // MARK: Sending

  private var doneBytes: Int {
    done.reduce(0) { $0 + package.files[$1].bytes.count }
  }

  private mutating func send(to files: RemoteFiles) async throws(UpdateFault) {
    var isFirst = true
    for (index, file) in package.files.enumerated() where !done.contains(index) {
      var sendings = 0
      while try await !send(index, to: files, isFirst: isFirst) {
        sendings += 1
        guard sendings < Self.sendingsMaximum else {
          throw .declined(.upload, .fileDiffers(file.path))
        }
        context.observe(.rewound(to: doneBytes, because: .blockChecksum))
      }
      isFirst = false
      done.insert(index)
      outcome.sent.append(file.path)
    }
  }

  /// Sends a file, and moves it to its path. Returns `false` if the content that was read back
  /// differs.
  ///
  /// - Parameter isFirst: whether this is the first file of the connection.
  private mutating func send(
    _ index: Int, to files: RemoteFiles, isFirst: Bool
  ) async throws(UpdateFault) -> Bool {
    let file = package.files[index]
    let start = try await startOffset(of: file, on: files)
    let before = doneBytes
    if start > 0, outcome.connections == 1 { outcome.resumedFrom = before + start }
    if isFirst {
      context.observe(
        .transferBegan(offset: before + start, total: package.size, resumed: before + start > 0))
    }
    let part = ResourceUpdate.partPath
    context.tally.keepsProgress(true)
    try await files.write(file.bytes, from: start, to: part) {
      context.acknowledged(before + $0, of: package.size)
    }
    // The bytes before `start` were compared when the offset was determined.
    let written = try await files.compare(part, with: file.bytes, from: start, .upload)
    guard written == .equal else { return false }
    try await files.makeDirectories(of: file.path, .upload)
    moved = index
    if try await files.move(part, to: file.path, .upload) { return true }
    return try await files.compare(file.path, with: file.bytes, .upload) == .equal
  }

  /// Returns the number of bytes of the file that the temporary file contains. Deletes a temporary
  /// file with other content.
  private func startOffset(
    of file: ResourcePackage.File, on files: RemoteFiles
  ) async throws(UpdateFault) -> Int {
    let part = ResourceUpdate.partPath
    if !context.options.startsOver || outcome.connections > 1 {
      switch try await files.compare(part, with: file.bytes, .upload) {
      case .absent: return 0
      case .prefix(let count): return count
      case .equal: return file.bytes.count
      case .different: break
      }
    }
    _ = try await files.delete(part, .upload)
    return 0
  }

  // MARK: Obsolete files

  /// Deletes obsolete files. A file that the running firmware still needs is kept.
  private mutating func deleteObsolete(on files: RemoteFiles) async throws(UpdateFault) {
    for file in package.obsoleteFiles where !outcome.deleted.contains(file.path) {
      if let since = file.since, let version = outcome.version, version < since { continue }
      if try await files.delete(file.path, .upload) { outcome.deleted.append(file.path) }
    }
  }
}
