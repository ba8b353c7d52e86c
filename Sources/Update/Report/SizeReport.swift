/// Which size of data writes an upload goes on with, and how that was found.
public struct SizeReport: Equatable, Sendable {
  /// What a size brought.
  public struct Rate: Equatable, Sendable {
    /// Bytes of data in a write.
    public var chunk: Int
    /// Bytes of data that the device acknowledged in a second.
    public var bytesPerSecond: Double

    /// - Parameters:
    ///   - chunk: bytes of data in a write.
    ///   - bytesPerSecond: acknowledged.
    public init(chunk: Int, bytesPerSecond: Double) {
      self.chunk = chunk
      self.bytesPerSecond = bytesPerSecond
    }
  }

  /// What was tried now, the first size that of the model; empty where an earlier update's size is
  /// taken.
  public var tried: [Rate]
  /// The size that is kept, and what it brought when it was tried.
  public var kept: Rate

  /// - Parameters:
  ///   - tried: empty where the size is remembered.
  ///   - kept: what the upload goes on with.
  public init(tried: [Rate], kept: Rate) {
    self.tried = tried
    self.kept = kept
  }

  /// It is the size that an earlier update has found.
  public var isRemembered: Bool { tried.isEmpty }
}
