import OtaflashFleet

extension CampaignSimulation {
  /// The maximum product of devices and seeds for a row of the what-if table; it corresponds to
  /// some seconds of one core.
  private static let whatIfBudget = 1000
  /// The maximum number of seeds for a row of the what-if table, which shows no range.
  private static let whatIfSeeds = 5

  /// The number of concurrent runs: enough for all cores of a small machine, but no more, because
  /// other work of the process waits for the runs.
  private static let runsAtOnce = 4

  private struct Step: Sendable {
    let change: ForecastChange?
    let seed: UInt64
  }

  /// Runs the campaign with several seeds, and each changed campaign with at most five of these
  /// seeds. At most four runs are simulated at a time. The same seeds yield the same forecast.
  ///
  /// - Parameters:
  ///   - seeds: the number of seeds, 1 or more; the seeds are 1, 2, ….
  ///   - changes: the rows of the what-if table; `nil` = all useful changes.
  ///   - isTimeOver: whether the time limit is reached; then only the first run is completed. The
  ///     forecast covers the ended runs, without incomplete rows.
  ///   - progress: called after each attempt in a simulated run, and at the end of each run, on the
  ///     thread of the run.
  package func forecast(
    seeds: Int, changes: [ForecastChange]? = nil,
    isTimeOver: @escaping @Sendable () -> Bool = { false },
    progress: @escaping @Sendable (ForecastProgress) -> Void = { _ in }
  ) async throws(ForecastFault) -> FleetForecast {
    precondition(seeds >= 1, "a forecast requires at least one seed")
    let changes = changes ?? ForecastChange.all(for: self)
    let few = min(seeds, Self.whatIfSeeds, max(1, Self.whatIfBudget / max(plan.deviceCount, 1)))
    let steps =
      (1...seeds).map { Step(change: nil, seed: UInt64($0)) }
      + changes.flatMap { change in
        (1...few).map { Step(change: change, seed: UInt64($0)) }
      }
    var watched = self
    watched.watch = ForecastWatch(
      runs: steps.count, devices: plan.deviceCount, isTimeOver: isTimeOver, progress)
    let figures = try await watched.figures(of: steps)
    // The seeds are the same as without a time limit: from 1, without gaps.
    let runs = Array(figures[..<seeds].prefix { $0 != nil }.compactMap(\.self))
    guard !runs.isEmpty else { throw .cancelled }
    let rows = changes.enumerated().compactMap { index, change in
      let row = figures[(seeds + index * few)..<(seeds + (index + 1) * few)].compactMap(\.self)
      return row.count == few && runs.count >= few ? (change, row) : nil
    }
    return FleetForecast(
      of: self, runs, whatIf: rows, left: (seeds - runs.count, changes.count - rows.count))
  }

  /// Returns the figures in the order of the steps; `nil` = the time limit was reached.
  private func figures(of steps: [Step]) async throws(ForecastFault) -> [SimulationFigures?] {
    let results = await withTaskGroup(
      of: (Int, Result<SimulationFigures?, ForecastFault>).self,
      returning: [Int: Result<SimulationFigures?, ForecastFault>].self
    ) { group in
      var results: [Int: Result<SimulationFigures?, ForecastFault>] = [:]
      func take(_ index: Int, _ result: Result<SimulationFigures?, ForecastFault>) {
        results[index] = result
        if case .failure = result { group.cancelAll() }
      }
      for (index, step) in steps.enumerated() {
        if index >= Self.runsAtOnce, let (index, result) = await group.next() {
          take(index, result)
        }
        // Each run blocks its thread, which must not be the thread of the caller.
        group.addTask(executorPreference: globalConcurrentExecutor) { (index, attempt(step)) }
      }
      for await (index, result) in group { take(index, result) }
      return results
    }
    var figures: [SimulationFigures?] = []
    for index in steps.indices {
      guard let result = results[index] else { throw .cancelled }
      figures.append(try result.get())
    }
    return figures
  }

  private func attempt(_ step: Step) -> Result<SimulationFigures?, ForecastFault> {
    guard !Task.isCancelled else { return .failure(.cancelled) }
    guard watch?.isOver != true else { return .success(nil) }
    let trial = step.change.map { $0.applied(to: self) } ?? self
    do throws(ForecastFault) {
      let outcome = try trial.run(seed: step.seed)
      watch?.runEnded(
        isFirst: step.change == nil && step.seed == 1, attempts: outcome.attempts)
      return .success(SimulationFigures(outcome, of: trial.campaign))
    } catch {
      return watch?.isOver == true ? .success(nil) : .failure(error)
    }
  }
}
