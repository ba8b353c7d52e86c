/// Decodes a message that a device sent in `stage`. A message that cannot be decoded counts as a
/// protocol violation of the device.
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
