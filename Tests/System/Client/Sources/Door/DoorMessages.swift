import OtaflashGATT

/// The message for a door that cannot be read.
public func message(for fault: PeripheralFault) -> String {
  switch fault {
  case .connect(.deviceNotFound): "Go nearer to the door."
  case .gatt(.refused(_, .insufficientAuthorization)): "The code is wrong."
  case .gatt(.linkLost): "The door went out of range."
  case .connect, .gatt, .queue: "\(fault.summary): \(fault.explanation)"
  @unknown default: "\(fault)"
  }
}
