import OtaflashWire

/// The response of the management interface with the list of adapters.
enum MgmtIndexList {
  /// Decodes the response to Read Index List: the number of adapters, followed by the number of
  /// each adapter.
  static func decode(_ bytes: [UInt8]) throws(MgmtFault) -> [UInt16] {
    do throws(MgmtDecodeFault) {
      var fields = MgmtFields(bytes[...])
      let count = try fields.uint16()
      var indexes: [UInt16] = []
      for _ in 0..<count { indexes.append(try fields.uint16()) }
      return indexes.sorted()
    } catch {
      throw .malformed
    }
  }

  static func information(_ bytes: [UInt8]) throws(MgmtFault) -> ControllerInformation {
    do throws(MgmtDecodeFault) {
      return try ControllerInformation(decoding: bytes)
    } catch {
      throw .malformed
    }
  }
}
