/// Decodes what a device sent in `stage`. A message that cannot be decoded is the device's fault.
///
/// - Throws: `.protocolViolation` with the description of the decoding error.
func decoding<Value, Fault: Error & CustomStringConvertible>(
  _ stage: UpdateStage, _ body: () throws(Fault) -> Value
) throws(UpdateFault) -> Value {
  do throws(Fault) {
    return try body()
  } catch {
    throw .protocolViolation(stage, error.description)
  }
}
