import OtaflashATT

extension GATTClient {
  /// Returns the fault with the UUID of its attribute, if discovery on this connection has found
  /// the attribute.
  func named(_ fault: GATTFault) -> GATTFault {
    switch fault {
    case .refused(let attribute, let code): .refused(named(attribute), code)
    case .insecure(let attribute, let code, let cause): .insecure(named(attribute), code, cause)
    default: fault
    }
  }

  private func named(_ attribute: AttributeReference) -> AttributeReference {
    let type = cache.withLock { cache -> BluetoothUUID? in
      for found in cache.characteristics.values.joined() where found.value == attribute.handle {
        return found.uuid
      }
      let descriptors = cache.descriptors.values.joined()
      return descriptors.first { $0.handle == attribute.handle }?.type
    }
    return AttributeReference(attribute.handle, type: type ?? attribute.type)
  }
}
