import OtaflashSimulation

/// Any text is a profile whose values are in their ranges, or is rejected.
func fuzzSimulationProfile(_ input: [UInt8]) {
  do throws(ProfileFault) {
    let profile = try SimulationProfile(
      parsing: String(decoding: input, as: UTF8.self))
    precondition((16_384...8_388_608).contains(profile.slotSize))
    precondition((23...517).contains(profile.mtu))
    precondition((2048...61_440).contains(profile.ringSize))
    precondition(profile.eraseTime >= .zero && profile.bootTime >= .zero)
  } catch {
    return
  }
}
