import OtaflashGATT

extension SimulatedBoard {
  /// The dialer of the board. It also finds the board at the address of its bootloader.
  public var dialer: Dialer {
    Dialer(at: { (place) async throws(ConnectFault) -> any Link in try await self.dial(at: place) })
  }

  /// Powers the board until `body` ends, successfully or not. A cancellation reaches only `body`:
  /// the board stays powered while `body` closes its connection.
  ///
  /// - Throws: the error of `body`.
  public func powered<Value: Sendable, Failure: Error>(
    while body: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await withService({ await self.run() }, body)
  }
}
