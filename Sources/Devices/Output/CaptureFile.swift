import ArgumentParser
import Glibc
import OtaflashConsole
import OtaflashGATT
import Synchronization

/// `--capture FILE`, for every command with a device.
package struct CaptureOption: ParsableArguments, Sendable {
  @Option(
    name: .customLong("capture"),
    help: ArgumentHelp(
      "Record the traffic of the link in this file, for btmon, Wireshark and tshark.",
      valueName: "path"),
    completion: .file(extensions: ["btsnoop"]))
  package var path: String?

  package init() {}

  package var file: OutputFile? {
    path.map { OutputFile(path: $0, kind: .btsnoop, option: "--capture") }
  }
}

/// The request to record the links of a run. The file is opened only after the run has read its
/// input, immediately before it connects.
package final class Capture: Sendable {
  private let output: OutputFile
  private let inputs: InputFiles
  private let opened = Mutex<CaptureFile?>(nil)

  package init(file: OutputFile, inputs: InputFiles) {
    output = file
    self.inputs = inputs
  }

  /// Returns the file, opened at the first call.
  package func file() throws(CommandFault) -> CaptureFile {
    try opened.withLock { file throws(CommandFault) in
      if let file { return file }
      let new = try CaptureFile(output, avoiding: inputs)
      file = new
      return new
    }
  }

  /// - Throws: the first write error.
  package func close() throws(CommandFault) { try opened.withLock { $0.take() }?.close() }
}

/// The file that records the links of a run. A write error ends the recording, not the run: the run
/// continues and reports the error at its end.
package struct CaptureFile: Sendable {
  private let file: OutputFile
  private let output: CaptureOutput
  private let capture: LinkCapture

  /// Creates the file, readable only for its owner, or empties an existing capture.
  package init(_ file: OutputFile, avoiding inputs: InputFiles) throws(CommandFault) {
    let descriptor: Int32
    do throws(OutputFileFault) {
      descriptor = try file.open(avoiding: inputs, isPrivate: true)
    } catch {
      throw .outputFile(file, error)
    }
    let output = CaptureOutput(descriptor)
    self.file = file
    self.output = output
    capture = LinkCapture { output.append($0) }
  }

  /// Returns the dialer with recorded links.
  package func recording(
    _ dialer: Dialer, to peer: CapturedPeer, on clock: any LinkClock
  ) -> Dialer {
    dialer.capturing(
      into: capture, as: peer, on: clock, now: Int64(Timestamp.secondsSince1970() * 1_000_000))
  }

  /// Writes the buffered records.
  /// - Throws: the first write error.
  package func close() throws(CommandFault) {
    if let errno = output.close() { throw .outputFile(file, .system(errno: errno)) }
  }
}

/// The buffer of the bytes of a capture before they are written to the file.
private final class CaptureOutput: Sendable {
  /// The maximum number of buffered bytes. Only complete records are written.
  private static let bufferMaximum = 32 * 1024

  private struct State {
    var descriptor: Int32?
    var buffer = BTSnoop.fileHeader
    /// The errno of the first write that failed.
    var failure: Int32?
  }

  private let state: Mutex<State>

  init(_ descriptor: Int32) { state = Mutex(State(descriptor: descriptor)) }

  func append(_ record: [UInt8]) {
    state.withLock { state in
      if state.buffer.count + record.count > Self.bufferMaximum { Self.flush(&state) }
      guard state.failure == nil, state.descriptor != nil else { return }
      state.buffer += record
    }
  }

  /// Returns the first errno; `nil` if all writes succeeded.
  func close() -> Int32? {
    state.withLock { state in
      Self.flush(&state)
      guard let descriptor = state.descriptor.take() else { return state.failure }
      if Glibc.close(descriptor) != 0 { state.failure = state.failure ?? errno }
      return state.failure
    }
  }

  private static func flush(_ state: inout State) {
    guard let descriptor = state.descriptor, state.failure == nil else { return }
    state.failure = FileOutput(descriptor: descriptor).write(state.buffer)
    state.buffer.removeAll(keepingCapacity: true)
  }
}
