/// A fault that contains its own report, for parts of the command line that may be absent.
package protocol ReportedFault: Error {
  func report(in context: FaultContext) -> FaultReport
}
