import OtaflashConsole

/// One thing that an installation must be able to do, tried without a device.
struct SelfTestCheck: Sendable {
  /// Why a check failed, as a clause.
  struct Failure: Error, Equatable {
    let words: String

    init(_ words: String) { self.words = words }

    /// Any error that ends a check, its own among them.
    init(of error: any Error) { self = error as? Failure ?? Failure("\(error)") }
  }

  let name: String
  private let perform: @Sendable () async throws(Failure) -> String

  /// - Parameter perform: tells what was seen, as a clause.
  init(_ name: String, _ perform: @escaping @Sendable () async throws(Failure) -> String) {
    self.name = name
    self.perform = perform
  }

  func run() async -> Outcome {
    do throws(Failure) {
      return Outcome(name: name, passed: true, finding: try await perform())
    } catch {
      return Outcome(name: name, passed: false, finding: error.words)
    }
  }

  struct Outcome: Equatable, Sendable {
    let name: String
    let passed: Bool
    let finding: String

    private var verdict: String { passed ? "pass" : "fail" }

    func line(nameWidth: Int) -> String {
      let padding = String(repeating: " ", count: max(nameWidth - name.count, 0))
      return "\(verdict)  \(name)\(padding)  \(finding)"
    }

    var members: [JSONValue.Member] {
      JSONValue.fields([
        "name": .string(name), "verdict": .string(verdict), "finding": .string(finding),
      ])
    }
  }
}
