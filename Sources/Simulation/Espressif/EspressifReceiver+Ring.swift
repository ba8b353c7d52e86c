/// The ring buffer between the task of the Bluetooth host and the task that writes the flash, as in
/// the examples of ble_ota and ble_ota_raw.
extension EspressifReceiver {
  /// Puts a sector into the ring buffer. If the buffer has no room, the task of the Bluetooth host
  /// waits.
  mutating func push(_ item: [UInt8], sector number: UInt16) {
    guard ringBytes + item.count <= parts.settings.ringSize else {
      block = .ring(item, sector: number)
      return
    }
    ringBytes += item.count
    if !isWriterDead { takeRingItem(item) }
    sectorTaken(number)
  }

  /// Passes an item to the writer, which ends if the item is rejected.
  private mutating func takeRingItem(_ item: [UInt8]) {
    if settings.variant == .raw, latchedTotal == nil { latchedTotal = total }
    if !write(item) { isWriterDead = true }
  }

  private mutating func sectorTaken(_ number: UInt16) {
    switch settings.variant {
    case .nimble: answerFirmware(number, 0)
    case .bluedroid, .raw: answerFirmware(number, 0, wanted: sector)
    case .nimbleOTA, .bleOTA: break
    }
  }

  /// Handles the result of storing an item: frees its space in the ring buffer, or stops the writer
  /// after a failure. After the last item, a valid image is selected for the next boot.
  mutating func ringItemStored(_ count: Int, _ isDone: Bool) {
    guard !isWriterDead else { return }
    guard isDone else {
      isWriterDead = true
      return
    }
    ringBytes -= count
    if case .ring(let item, let number) = block,
      ringBytes + item.count <= parts.settings.ringSize
    {
      block = nil
      push(item, sector: number)
    }
    let size = latchedTotal ?? total
    guard stored >= size else { return }
    isWriterDead = true
    if let image = receivedImage(of: size > 0 ? size : stored) { store(image) }
  }
}
