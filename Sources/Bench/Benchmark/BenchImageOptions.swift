import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashState

/// The two images to benchmark, and assumptions about the flash of the device.
package struct BenchImageOptions: ParsableArguments, Sendable {
  /// Times that are typical for a page of 4 KiB on a microcontroller.
  private static let usualTimes = ImageBenchmark.FlashTimes(erase: 0.085, write: 0.04)

  @Option(
    name: .long, parsing: .upToNextOption,
    help: ArgumentHelp(
      "The running image and the new image: also measures or predicts the gain from "
        + "patches.", valueName: "files"),
    completion: .file())
  package var image: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time in which a real device erases a page; with --image, 85ms by default.",
      valueName: "time"),
    transform: TimeSpan.parse)
  package var eraseTime: TimeSpan?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time in which a real device writes a page; with --image, 40ms by default.",
      valueName: "time"),
    transform: TimeSpan.parse)
  package var writeTime: TimeSpan?

  package init() {}

  package func validate() throws {
    guard [0, 2].contains(image.count) else {
      throw ValidationError(
        "--image requires two files, the running image and the new image; specified: "
          + "\(image.count)")
    }
    if image.count == 2, image.allSatisfy({ $0 == ImageFile.standardInput }) {
      throw ValidationError("only one of the two files can be standard input")
    }
    if image.isEmpty, eraseTime != nil || writeTime != nil {
      throw ValidationError("--erase-time and --write-time require --image")
    }
  }

  package var paths: [String] { image.flatMap(ImageSource.files) }

  package var setsTimes: Bool { eraseTime != nil || writeTime != nil }

  package var times: ImageBenchmark.FlashTimes {
    var times = Self.usualTimes
    if let eraseTime { times.erase = eraseTime.duration.inSeconds }
    if let writeTime { times.write = writeTime.duration.inSeconds }
    return times
  }

  package func load(_ session: Session) throws(CommandFault) -> ImagePair? {
    guard image.count == 2 else { return nil }
    return try ImagePair.load(image[0], image[1], session)
  }
}
