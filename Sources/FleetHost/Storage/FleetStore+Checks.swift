#if Fleet
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore

extension FleetStore {
  /// Compares every event of a run with its recorded hash.
  ///
  /// - Returns: the number of events, and the hash of the last event.
  package func checkedChain(of run: String) throws(CommandFault) -> (events: Int, head: [UInt8]) {
    let verdict: ChainVerdict
    do throws(StorageFault) { verdict = try verify(run: run) } catch { throw .fleet(.store(error)) }
    let words: String
    switch verdict {
    case .intact(let events, let head): return (events, head)
    case .changed(let event): words = "event \(event) was changed"
    case .cut(let found, let recorded) where found < recorded:
      words = "\(recorded - found) of \(recorded) events are missing"
    case .cut(let found, let recorded):
      words = "there are \(found) events, and \(recorded) were recorded"
    }
    throw .fleet(.brokenChain(run: run, words: words))
  }

  package func history(of run: String) async throws(CommandFault) -> [RecordedEvent] {
    do throws(StorageFault) { return try await ledger(of: run).history() } catch {
      throw .fleet(.store(error))
    }
  }

  /// Returns a clause about each run that was deleted or rewritten.
  package func lossWords() throws(CommandFault) -> [String] {
    do throws(StorageFault) {
      return try lostRuns().map { run in
        let name = "run \(run.id)" + (run.campaign.map { " (\($0))" } ?? "")
        return switch run.loss {
        case .deleted: name + " was deleted from the store"
        case .rewritten: name + " does not have the same events as when the next run was started"
        }
      }
    } catch {
      throw .fleet(.store(error))
    }
  }
}
#endif
