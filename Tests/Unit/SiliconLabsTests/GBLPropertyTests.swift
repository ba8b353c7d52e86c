import OtaflashFirmware
import Testing

@testable import OtaflashSimulation

/// Tests of the decoder with random files, and the comparison with the parser of the simulated
/// loader, which was written separately.
@Suite struct GBLPropertyTests {
  private static let ids: [UInt32] = [
    0x76A6_17EB, 0xF40A_0AF4, 0x5EA6_17EB, 0xF509_09F5, 0xFE01_01FE, 0xFD03_03FD, 0xFD05_05FD,
    0xFD07_07FD, 0xF608_08F6,
  ]

  private static func bytes(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  private static func drawn(_ random: inout SeededRandom) -> [UInt8] {
    var sample = GBLSample(type: 0)
    var ids = (0..<Int.random(in: 0...5, using: &random)).map { _ in
      Self.ids[Int.random(in: 0..<Self.ids.count, using: &random)]
    }
    if Bool.random(using: &random) {
      ids.sort { Self.ids.firstIndex(of: $0) ?? 0 < Self.ids.firstIndex(of: $1) ?? 0 }
    }
    for id in ids {
      let count = id == 0xF40A_0AF4 ? 28 : 8 * Int.random(in: 1...20, using: &random)
      sample.add(id, bytes(count, &random))
    }
    sample.end(damage: random.happens(withProbability: 0.1) ? 1 : 0)
    return sample.bytes
  }

  /// The host and a loader, which receives pieces of any size, accept the same files.
  @Test(arguments: 0..<400)
  func theLoaderAcceptsWhatTheHostAccepts(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let file = Self.drawn(&random)
    var isAccepted = true
    do throws(GBLFault) { _ = try GBLFile(decoding: file) } catch {
      // A loader also accepts a file without content.
      if error == .nothingToInstall { return }
      isAccepted = false
    }
    var stream = GBLStream(requiresSignature: false)
    var rest = file[...]
    var isTaken = true
    do throws(GBLStream.Fault) {
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 1...300, using: &random))
        _ = try stream.take(Array(piece))
        rest = rest.dropFirst(piece.count)
      }
    } catch {
      isTaken = false
    }
    #expect((isTaken && stream.isComplete) == isAccepted, "seed \(seed)")
  }

  /// The parts of a program are complete and in order, regardless of the pieces.
  @Test(arguments: 0..<100)
  func noByteOfAProgramIsLost(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let program = Self.bytes(Int.random(in: 1...1000, using: &random), &random)
    var stream = GBLStream(requiresSignature: false)
    var rest = GBLSample.file(program)[...]
    var received: [UInt8] = []
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...30, using: &random))
      for part in try stream.take(Array(piece)) {
        #expect(part.address == 0x4000 + UInt32(received.count))
        received += part.bytes
      }
      rest = rest.dropFirst(piece.count)
    }
    #expect(received == program && stream.isComplete)
  }

  /// Bytes that are changed, removed or inserted never trap, and every error has a position.
  @Test(arguments: 0..<500)
  func noFileTraps(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var file = Self.drawn(&random)
    for _ in 0..<Int.random(in: 1...4, using: &random) where !file.isEmpty {
      let index = Int.random(in: 0..<file.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: file[index] = UInt8.random(in: 0...255, using: &random)
      case 1: file.removeLast(file.count - index)
      case 2: file.insert(0xFF, at: index)
      default: file.remove(at: index)
      }
    }
    do throws(GBLFault) { _ = try GBLFile(decoding: file) } catch {
      #expect((0...max(file.count, 12)).contains(error.offset))
    }
  }
}
