/// A fault with its own report, of a part of the command line that may be absent.
package protocol ReportedFault: Error {
  func report(in context: FaultContext) -> FaultReport
}
