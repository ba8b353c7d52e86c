import OtaflashGATT

extension SimulatedBoard {
  /// The way to the board for whatever takes a dialer. It follows the board to the address of its
  /// bootloader.
  public var dialer: Dialer {
    Dialer(at: { (place) async throws(ConnectFault) -> any Link in try await self.dial(at: place) })
  }

  /// Gives the board power until `body` has ended, however it ended. Cancelling reaches `body`
  /// alone: the board must still be there when `body` says goodbye to it.
  ///
  /// - Throws: what `body` throws.
  public func powered<Value: Sendable, Failure: Error>(
    while body: @escaping @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await withService({ await self.run() }, body)
  }
}
