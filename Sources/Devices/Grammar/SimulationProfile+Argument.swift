import ArgumentParser
import OtaflashSimulation

extension SimulationProfile {
  /// Returns the profile of a command-line argument.
  ///
  /// - Throws: `ValidationError` with the error in the text.
  package static func argument(_ text: String) throws -> SimulationProfile {
    do throws(ProfileFault) {
      return try SimulationProfile(parsing: text)
    } catch {
      throw ValidationError("\(error)")
    }
  }
}
