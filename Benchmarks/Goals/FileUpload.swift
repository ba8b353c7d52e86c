import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// The upload stage of one transfer of a file over SMP, in virtual time.
struct FileUpload {
  /// The bytes of the file, divided by the time of the stage.
  let bytesPerSecond: Double

  /// - Parameter text: the device, as after `-d`.
  init(onto text: String, size: Int) throws {
    var random = SeededRandom(seed: 1)
    let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    let time = Mutex(Duration.zero)
    let put = SMPFilePut(bytes, to: "/lfs1/file") { event in
      if case .stageEnded(.upload, let took) = event { time.withLock { $0 = took } }
    }
    _ = try VirtualRun.of(SimulationProfile(parsing: text)) {
      (dialer, clock) async throws(UpdateFault) in try await put.run(on: dialer, clock: clock)
    }
    bytesPerSecond = Double(size) / (time.withLock { $0 } / .seconds(1))
  }
}
