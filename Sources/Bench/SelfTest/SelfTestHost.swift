import OtaflashATT
import OtaflashBlueZ
import OtaflashConsole
import OtaflashGATT
import OtaflashState

/// The tests of the system, which use a temporary folder.
package struct SelfTestHost: Sendable {
  package typealias Failure = SelfTestCheck.Failure

  private static let echoes = 100
  private static let patience = Duration.seconds(5)

  package let environment: [String: String]

  // MARK: Links

  /// Tests links over a Unix socket, with the event loop that Bluetooth sockets use.
  package func socket() async throws(Failure) -> String {
    let folder = try folder()
    let path = folder.path + "/self-test.sock"
    let result = await withTaskExecutorPreference(EventLoop.shared) { await Self.echo(over: path) }
    extendLifetime(folder)
    return try result.get()
  }

  private static func echo(over path: String) async -> Result<String, Failure> {
    let clock = EventLoopClock()
    do throws(Failure) {
      try await withDeadline(
        clock.now.advanced(by: patience), on: clock, orThrow: Failure("no PDU was returned in time")
      ) { () async throws(Failure) in
        do { try await exchange(over: path) } catch { throw Failure(of: error) }
      }
      return .success("\(echoes) PDUs in each direction")
    } catch {
      return .failure(error)
    }
  }

  private static func exchange(over path: String) async throws {
    let listener = try UnixListener(path: path)
    defer { listener.close() }
    let near = try await UnixLink.connect(path: path, within: patience)
    defer { near.close() }
    let far = try await listener.accept()
    defer { far.close() }
    for number in 0..<echoes {
      let pdu = [UInt8](repeating: UInt8(number), count: 23 + number)
      try await near.send(pdu)
      try await far.send(try await far.receive())
      guard try await near.receive() == pdu else {
        throw Failure("PDU \(number) was returned with changes")
      }
    }
  }

  // MARK: State

  /// Tests the files and locks that runs use.
  package func state() throws(Failure) -> String {
    let folder = try folder()
    do { try Self.keep(in: folder.path) } catch { throw Failure(of: error) }
    return "written and read back in \(folder.path), which is removed again"
  }

  private static func keep(in path: String) throws {
    let directory = try StateDirectory.locate(environment: ["XDG_STATE_HOME": path])
    try directory.create()
    let (id, now) = ("unix:\(path)/self-test.sock", Timestamp.secondsSince1970().rounded())
    _ = try RegistryFile(in: directory).update {
      $0.connected(id, name: "self-test", address: nil, at: now)
    }
    let entry = UpdateJournal.Entry(
      device: id, imageName: "self-test.bin", imageSize: 2, imageCRC32: 0, acknowledged: 1,
      started: now, updated: now)
    let lock = try DeviceLock(DeviceIdentity(path: path, device: id))
    try UpdateJournal(device: id, in: directory).write(entry)
    let kept = try RegistryFile(in: directory).load().content?[id]?.lastConnected
    let noted = try UpdateJournal(device: id, in: directory).read().content
    lock.release()
    guard kept == now, noted == entry else { throw Failure("the files differ when read back") }
  }

  private func folder() throws(Failure) -> TemporaryFolder {
    do throws(FileFault) {
      return try TemporaryFolder(environment: environment)
    } catch {
      guard case .unreadable(let path, let errno) = error else { throw Failure(of: error) }
      throw Failure("no folder can be created in \(path): \(SystemError.text(errno))")
    }
  }
}
