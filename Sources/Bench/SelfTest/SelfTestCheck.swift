import OtaflashConsole

/// One capability of an installation, tested without a device.
package struct SelfTestCheck: Sendable {
  /// The reason why a check failed, as a clause.
  package struct Failure: Error, Equatable {
    package let words: String

    package init(_ words: String) { self.words = words }

    /// Wraps any error that ends a check.
    package init(of error: any Error) { self = error as? Failure ?? Failure("\(error)") }
  }

  package let name: String
  private let perform: @Sendable () async throws(Failure) -> String

  /// Creates a check.
  ///
  /// - Parameter perform: returns the finding, as a clause.
  package init(_ name: String, _ perform: @escaping @Sendable () async throws(Failure) -> String) {
    self.name = name
    self.perform = perform
  }

  package func run() async -> Outcome {
    do throws(Failure) {
      return Outcome(name: name, passed: true, finding: try await perform())
    } catch {
      return Outcome(name: name, passed: false, finding: error.words)
    }
  }

  package struct Outcome: Equatable, Sendable {
    package let name: String
    package let passed: Bool
    package let finding: String

    private var verdict: String { passed ? "pass" : "fail" }

    package func line(nameWidth: Int) -> String {
      let padding = String(repeating: " ", count: max(nameWidth - name.count, 0))
      return "\(verdict)  \(name)\(padding)  \(finding)"
    }

    package var members: [JSONValue.Member] {
      JSONValue.fields([
        "name": .string(name), "verdict": .string(verdict), "finding": .string(finding),
      ])
    }
  }
}
