extension BoardSettings {
  /// Sets the parameters of an nRF52 with SDK 15: 41 µs to write a flash word, an ATT_MTU of 247,
  /// and links that the device closes before a reset.
  mutating func becomeNordic() {
    mtu = 247
    writeTimePer4KiB = .microseconds(41 * 1024)
    linkDrop = .close
  }
}
