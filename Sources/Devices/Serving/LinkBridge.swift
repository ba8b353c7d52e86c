import OtaflashGATT

/// Two joined links: each sends what the other receives, until either ends.
package struct LinkBridge: Sendable {
  package let near: any Link
  package let far: any Link

  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await Self.pump(from: near, to: far) }
      group.addTask { await Self.pump(from: far, to: near) }
      await group.next()
      near.close()
      far.close()
      group.cancelAll()
    }
  }

  /// Forwards PDUs until a link ends; the end of a link is not an error.
  private static func pump(from source: any Link, to sink: any Link) async {
    do throws(LinkLoss) {
      while true { try await sink.send(try await source.receive()) }
    } catch {
      return
    }
  }
}
