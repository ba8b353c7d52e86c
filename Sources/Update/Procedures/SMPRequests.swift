import OtaflashGATT
import OtaflashWire

/// Single requests of the SMP groups that a firmware may be built without.
extension SMPChannel {
  /// Performs a request.
  ///
  /// - Parameter option: the option of the firmware's configuration that enables the command. The
  ///   error message contains this option if the server does not support the command.
  func perform<Request: SMPRequest>(
    _ request: Request, enabledBy option: String, within limit: Duration = answerLimit
  ) async throws(UpdateFault) -> Request.Response {
    switch try await ask(request, .request, within: limit) {
    case .success(let response): return response
    case .failure(let refusal) where refusal.isNotSupported:
      throw .declined(.request, .missing(option, code: refusal.inWords.code))
    case .failure(let refusal): throw .declined(.request, refusal.inWords)
    }
  }
}

extension ProtocolRefusal {
  static func missing(_ option: String, code: String?) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "it does not support the command",
      advice: "The firmware must be built with \(option).", kind: .unsuitable)
  }
}
