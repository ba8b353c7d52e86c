import ArgumentParser
import OtaflashSimulation

extension SimulationProfile {
  /// - Throws: `ValidationError`, which says what is wrong with the text.
  package static func argument(_ text: String) throws -> SimulationProfile {
    do throws(ProfileFault) {
      return try SimulationProfile(parsing: text)
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
