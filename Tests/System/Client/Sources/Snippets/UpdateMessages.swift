import OtaflashUpdate

/// The message for a failed update.
public func message(for fault: UpdateFault) -> String {
  switch fault {
  case .linkLost(_, let stage, resumable: true, let acknowledged):
    "lost during \(stage.rawValue); the device keeps \(acknowledged) bytes: run it again"
  case .downgrade(let running, let image):
    "the device runs \(running), which is newer than \(image)"
  default:
    "\(fault.summary): \(fault.explanation)"
  }
}
