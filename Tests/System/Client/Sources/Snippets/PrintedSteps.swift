import OtaflashGATT

/// Prints every step of the connection, with its error if it failed.
public func printSteps(of peripheral: Peripheral) async {
  for await step in peripheral.transitions() {
    let reason = if case .gatt(.linkLost(let loss)) = step.failure { " (\(loss))" } else { "" }
    print("\(step.from.rawValue) -> \(step.to.rawValue)\(reason)")
  }
}
