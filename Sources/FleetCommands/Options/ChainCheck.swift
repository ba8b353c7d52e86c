#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetStore

/// The argument of `--verify [HASH]`.
enum ChainCheck: ExpressibleByArgument, Equatable, Sendable, CustomStringConvertible {
  /// Compares the events only with the hashes in the store.
  case recorded
  /// The check also requires an event with a hash that was stored elsewhere.
  case hash([UInt8])

  /// The size of a SHA-256 hash, in bytes.
  private static let hashSize = 32
  /// The maximum length of a run's name, in characters. Names have six characters; a longer text is
  /// a mistyped hash.
  private static let nameMaximum = 12

  /// Returns `nil` if the text is not a hash; the parser then uses the text as the next argument,
  /// the name of the run.
  init?(argument: String) {
    guard let hash = Text.bytes(hex: argument), hash.count == Self.hashSize else { return nil }
    self = .hash(hash)
  }

  static func isMistaken(forRun name: String) -> Bool { name.count > nameMaximum }

  var description: String {
    switch self {
    case .recorded: "the stored hashes only"
    case .hash(let hash): Text.hex(hash)
    }
  }

  /// Searches the events of a run for the hash. The chain of the run must be intact.
  ///
  /// - Returns: the number of the event with the hash; `nil` without a given hash.
  func place(
    in run: String, _ chain: (events: Int, head: [UInt8]), of store: FleetStore
  ) throws(CommandFault) -> Int? {
    guard case .hash(let hash) = self else { return nil }
    if hash == chain.head { return chain.events }
    let found: HashedEvent?
    do throws(StorageFault) { found = try store.event(withHash: hash) } catch {
      throw .fleet(.store(error))
    }
    if let found, found.run == run { return found.number }
    throw .fleet(
      .otherHash(
        run: run, given: Text.hex(hash), events: chain.events, head: Text.hex(chain.head),
        of: found?.run))
  }
}
#endif
