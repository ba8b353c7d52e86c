import OtaflashConsole
import Synchronization

/// A scan with a live table, and the user's choice.
package final class LiveScan: Sendable {
  package enum Ending: Equatable, Sendable {
    case chosen(String)
    /// The user quit.
    case left
    /// The time limit was reached, or a signal was received.
    case over
  }

  private enum Part: Sendable {
    case survey(Result<Void, CommandFault>)
    case person(Ending)
    case display
  }

  private static let redrawInterval = Duration.milliseconds(100)

  private let air: Air
  private let filter: ScanFilter
  private let limit: Duration
  private let session: Session
  private let table: Mutex<LiveTable>
  private let found = Mutex<[ScanResult]>([])
  private let start = ContinuousClock.now

  package init(_ table: LiveTable, _ filter: ScanFilter, for limit: Duration, in session: Session) {
    air = Air(session.global)
    self.filter = filter
    self.limit = limit
    self.session = session
    self.table = Mutex(table)
  }

  /// The latest result of each device.
  package var discovered: [ScanResult] { found.withLock { $0 } }

  /// Shows the devices until the user chooses or quits, or until the time limit.
  ///
  /// - Throws: a fault if no scan is possible.
  package func run() async throws(CommandFault) -> Ending {
    let result =
      if let result = await Keyboard.use(in: session, { await self.run(with: $0) }) {
        result
      } else {
        await run(with: nil)
      }
    session.console.show([])
    return try result.get()
  }

  private func run(with keyboard: Keyboard?) async -> Result<Ending, CommandFault> {
    await withTaskGroup(of: Part.self, returning: Result<Ending, CommandFault>.self) { group in
      group.addTask { .survey(await self.survey()) }
      group.addTask { await self.display() }
      if let keyboard { group.addTask { .person(await self.listen(to: keyboard)) } }
      defer { group.cancelAll() }
      for await part in group {
        switch part {
        case .survey(.success): return .success(.over)
        case .survey(.failure(let fault)): return .failure(fault)
        case .person(let ending): return .success(ending)
        case .display: break
        }
      }
      return .success(.over)
    }
  }

  private func survey() async -> Result<Void, CommandFault> {
    do throws(CommandFault) {
      _ = try await air.survey(filter, for: limit, duplicates: true, endsWhenCancelled: true) {
        self.hear($0)
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private func hear(_ result: ScanResult) {
    let now = ContinuousClock.now - start
    table.withLock { $0.discovered(result, at: now) }
    found.withLock { found in
      if let place = found.firstIndex(where: { $0.id == result.id }) {
        found[place] = result
      } else {
        found.append(result)
      }
    }
  }

  private func listen(to keyboard: Keyboard) async -> Ending {
    let ending = Mutex(Ending.over)
    await keyboard.watch { key in
      switch self.table.withLock({ $0.press(key) }) {
      case .goesOn:
        self.draw()
        return false
      case .chosen(let id): ending.withLock { $0 = .chosen(id) }
      case .left: ending.withLock { $0 = .left }
      }
      return true
    }
    return ending.withLock { $0 }
  }

  private func display() async -> Part {
    repeat { draw() } while await Pause.sleep(for: Self.redrawInterval)
    return .display
  }

  private func draw() {
    let (now, terminal) = (ContinuousClock.now - start, FileOutput.standardError)
    let style = session.console.settings.errorStyle
    session.console.show(
      table.withLock { table in
        table.settle(at: now)
        return table.lines(rows: terminal.rows, columns: terminal.columns, at: now, in: style)
      })
  }
}
