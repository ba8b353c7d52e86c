/// The reason why a file of text records was rejected.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum TextFault<Line: Error & Equatable>: Error, Equatable {
  /// An error in one line; lines count from 1.
  case line(Int, Line)
  /// An error in the addresses of all lines.
  case addresses(AddressFault)
}

extension TextFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .line(let number, let fault): "line \(number) \(fault)"
    case .addresses(let fault): "\(fault)"
    }
  }
}

extension TextFault: AddressedFileFault {
  package var addresses: AddressFault? {
    if case .addresses(let fault) = self { fault } else { nil }
  }
}
