extension BoardSettings {
  /// An nRF52 with the parameters of SDK 15: 41 µs a word of flash, an ATT_MTU of 247, and links
  /// that are closed before a reset.
  mutating func becomeNordic() {
    mtu = 247
    writeTimePer4KiB = .microseconds(41 * 1024)
    linkDrop = .close
  }
}
