import Glibc
import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashBlueZ

private func scratchPath() -> String {
  "/tmp/otaflash-test-\(getpid())-\(UInt32.random(in: 0 ... .max)).sock"
}

@Suite(.timeLimit(.minutes(20))) struct UnixLinkTests {
  @Test func messagesKeepBoundariesAndOrder() async throws {
    let (near, far) = try UnixLink.pair()
    try await near.send([0x02, 0x05, 0x02])
    try await near.send([])
    try await near.send(Array(repeating: 7, count: 672))
    #expect(try await far.receive() == [0x02, 0x05, 0x02])
    #expect(try await far.receive() == [])
    #expect(try await far.receive().count == 672)
  }

  @Test func aPDUThatIsTooLongIsRejectedCompletely() async throws {
    let (near, _) = try UnixLink.pair()
    await #expect(throws: LinkLoss.tooLarge(bytes: 673, limit: 672)) {
      try await near.send(Array(repeating: 0, count: 673))
    }
  }

  @Test func queuedMessagesAreDeliveredBeforeTheLoss() async throws {
    let (near, far) = try UnixLink.pair()
    // An unread message makes the kernel report ECONNRESET to the peer.
    try await far.send([9])
    try await near.send([1])
    try await near.send([2])
    near.close()
    #expect(try await far.receive() == [1])
    #expect(try await far.receive() == [2])
    for _ in 0..<2 {
      await #expect(throws: LinkLoss.closedByPeer) { try await far.receive() }
    }
    await #expect(throws: LinkLoss.closedByPeer) { try await far.send([3]) }
  }

  @Test func senderLearnsOfTheEndWithoutASignal() async throws {
    let (near, far) = try UnixLink.pair()
    try await near.send([1])
    near.close()
    await #expect(throws: LinkLoss.closedByPeer) { try await far.send([3]) }
    #expect(try await far.receive() == [1])
    await #expect(throws: LinkLoss.closedByPeer) { try await far.receive() }
  }

  @Test func closeEndsEveryWait() async throws {
    let (near, far) = try UnixLink.pair()
    await withTaskGroup(of: LinkLoss?.self) { group in
      group.addTask { await loss { () async throws(LinkLoss) in _ = try await near.receive() } }
      group.addTask {
        await loss { () async throws(LinkLoss) in while true { try await near.send([1]) } }
      }
      group.addTask {
        await EventLoopClock().pause(for: .milliseconds(10))
        near.close()
        near.close()
        return .closedLocally
      }
      for await result in group { #expect(result == .closedLocally) }
    }
    _ = far
  }

  @Test func cancelledReceiveLeavesTheLinkUsable() async throws {
    let (near, far) = try UnixLink.pair()
    let task = Task { await loss { () async throws(LinkLoss) in _ = try await far.receive() } }
    await EventLoopClock().pause(for: .milliseconds(5))
    task.cancel()
    #expect(await task.value == .cancelled)
    try await near.send([5])
    #expect(try await far.receive() == [5])
  }

  @Test func aFullBufferDelaysTheSender() async throws {
    let (near, far) = try UnixLink.pair()
    let pdu = [UInt8](repeating: 1, count: 495)
    let sender = Task { () throws in
      for index in 0..<5000 {
        try await near.send([UInt8(truncatingIfNeeded: index)] + pdu.dropFirst())
      }
    }
    for index in 0..<5000 {
      let received = try await far.receive()
      #expect(received.count == 495 && received[0] == UInt8(truncatingIfNeeded: index))
    }
    try await sender.value
  }

  @Test func aPDUThatIsNotAcceptedImmediatelyIsNotSent() async throws {
    let (near, far) = try UnixLink.pair()
    let pdu = [UInt8](repeating: 1, count: 495)
    var taken = 0
    while try near.offer([UInt8(truncatingIfNeeded: taken)] + pdu) { taken += 1 }
    #expect(taken > 10)
    #expect(try !near.offer([0x77]))
    for index in 0..<taken {
      #expect(try await far.receive()[0] == UInt8(truncatingIfNeeded: index))
    }
    #expect(try near.offer([0x55]))
    #expect(try await far.receive() == [0x55])
    #expect(throws: LinkLoss.tooLarge(bytes: 673, limit: 672)) {
      try near.offer([UInt8](repeating: 0, count: 673))
    }
    near.close()
    #expect(throws: LinkLoss.closedLocally) { try near.offer([1]) }
  }

  @Test func listenerAcceptsAndRemovesItsFile() async throws {
    let path = scratchPath()
    let listener = try UnixListener(path: path)
    let near = try await UnixLink.connect(path: path, within: .seconds(300))
    let far = try await listener.accept()
    try await far.send([1])
    #expect(try await near.receive() == [1])
    #expect(throws: ConnectFault.self) { try UnixListener(path: path) }
    listener.close()
    #expect(access(path, F_OK) == -1)
  }

  @Test func staleFileIsReplacedAndOtherFilesAreKept() throws {
    let path = scratchPath()
    let address = try UnixAddress(path)
    do {
      let stale = try UnixAddress.socket()
      #expect(address.bind(stale) == 0)
    }
    #expect(access(path, F_OK) == 0)
    try UnixListener(path: path).close()
    let file = creat(path, 0o600)
    #expect(file >= 0)
    Glibc.close(file)
    #expect(throws: ConnectFault.self) { try UnixListener(path: path) }
    #expect(access(path, F_OK) == 0)
    unlink(path)
  }

  @Test func aMissingDirectoryIsNotAMissingDevice() {
    let path = scratchPath() + "/device.sock"
    #expect(throws: ConnectFault(unixError: ENOENT, at: .bind, path: path)) {
      try UnixListener(path: path)
    }
    guard case .systemCall = ConnectFault(unixError: ENOENT, at: .bind, path: path) else {
      Issue.record("a missing directory is reported as a missing device")
      return
    }
  }

  @Test func missingListenerAndLongPathAreTypedFaults() async {
    let path = scratchPath()
    await #expect(throws: ConnectFault(unixError: ENOENT, at: .connect, path: path)) {
      try await UnixLink.connect(path: path, within: .seconds(1))
    }
    let long = String(repeating: "x", count: 108)
    let fault = #expect(throws: ConnectFault.self) { try UnixListener(path: long) }
    guard case .systemCall(_, ENAMETOOLONG, _, _)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
  }

  @Test func cancelledAcceptEnds() async throws {
    let listener = try UnixListener(path: scratchPath())
    let task = Task { () async -> ConnectFault? in
      do throws(ConnectFault) {
        _ = try await listener.accept()
        return nil
      } catch {
        return error
      }
    }
    task.cancel()
    #expect(await task.value == .cancelled)
  }
}

private func loss(_ body: () async throws(LinkLoss) -> Void) async -> LinkLoss? {
  do throws(LinkLoss) {
    try await body()
    return nil
  } catch {
    return error
  }
}
