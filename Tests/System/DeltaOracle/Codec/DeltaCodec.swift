import Glibc
import OtaflashDelta

/// A filter program that runs the patch code of this project, for comparisons by
/// Tests/System/DeltaOracle/oracle.py.
@main
enum DeltaCodec {
  private static let usage = """
    usage: delta-codec <JOBS              one job per line, separated by tabs; one answer per line:
             make CODEC OLD NEW PATCH     creates a patch; prints the seconds of CPU time
             apply OLD PATCH NEW          writes the image; prints "error: " and any fault
             plan OLD NEW RATE AHEAD OUT  for RATE bytes per second, and erasing ahead (0 or 1):
                                          writes the delivery; prints content, part size,
                                          codecs, size, predicted seconds, those of the image,
                                          and the seconds to choose
             stream FORMAT OLD NEW OUT    writes the stream for a device with a window of 2^10 bytes;
                                          FORMAT: 1, 2a (heatshrink), 2b (range coder), or only2a and
                                          only2b without patches of format 1; prints size, parts, and
                                          the seconds of CPU time
    CODEC: none, crle, or heatshrink,WINDOW,LOOKAHEAD.
    """

  static func main() {
    guard CommandLine.arguments.count == 1 else {
      print(usage)
      exit(64)
    }
    while let line = readLine() {
      do throws(JobFault) {
        print(try answer(line.split(separator: "\t").map(String.init)))
      } catch {
        print("error: \(error.text)")
      }
      fflush(nil)
    }
  }

  private static func answer(_ words: [String]) throws(JobFault) -> String {
    switch (words.first, words.count) {
    case ("make", 5): try make(words)
    case ("apply", 4): try apply(words)
    case ("plan", 6): try plan(words)
    case ("stream", 5): try stream(words)
    default: throw JobFault("no job: \(words)")
    }
  }

  private static func make(_ words: [String]) throws(JobFault) -> String {
    let (codec, old, new) = (try codec(words[1]), try File.read(words[2]), try File.read(words[3]))
    let start = clock()
    let patch = Patch(from: PatchBase(old), to: new[...], codec: codec)
    let seconds = secondsSince(start)
    try File.write(patch.bytes, to: words[4])
    return String(seconds)
  }

  private static func apply(_ words: [String]) throws(JobFault) -> String {
    let (old, patch) = (try File.read(words[1]), try File.read(words[2]))
    let image: [UInt8]
    do throws(PatchFault) {
      image = try PatchReader.apply(patch[...], to: old, limit: 1 << 24).image
    } catch {
      throw JobFault(error.description)
    }
    try File.write(image, to: words[3])
    return "applied"
  }

  private static func plan(_ words: [String]) throws(JobFault) -> String {
    let (old, new) = (try File.read(words[1]), try File.read(words[2]))
    guard let rate = Double(words[3]) else { throw JobFault("no rate: \(words[3])") }
    let start = clock()
    let planner = DeliveryPlanner(
      image: new,
      abilities: DecoderAbilities(
        hasCRLE: true, largestWindow: 10, largestLookahead: 10, pageSize: 4096),
      conditions: DeliveryConditions(bytesPerSecond: rate, isErasedAhead: words[4] == "1"))
    let best = planner.best(base: old)
    let seconds = secondsSince(start)
    try File.write(best.bytes, to: words[5])
    let codecs = best.codecs.map(\.description).joined(separator: "+")
    let facts: [String] = [
      "\(best.content)", "\(best.partSize)", codecs.isEmpty ? "-" : codecs, "\(best.bytes.count)",
      "\(best.forecast.seconds)", "\(planner.plain.forecast.seconds)", "\(seconds)",
    ]
    return facts.joined(separator: "\t")
  }

  private static func stream(_ words: [String]) throws(JobFault) -> String {
    let (format, old, new) = (words[1], try File.read(words[2]), try File.read(words[3]))
    let start = clock()
    let hasMap = format.contains("2")
    let abilities = DecoderAbilities(
      hasCRLE: !format.hasPrefix("only"), largestWindow: 10, largestLookahead: 10, hasMap: hasMap,
      hasRangeCoder: hasMap && format.hasSuffix("b"), pageSize: 4096)
    // Resets are rare, so the parts have their usual size.
    let planner = DeliveryPlanner(
      image: new, abilities: abilities,
      conditions: DeliveryConditions(bytesPerSecond: 1e5, secondsBetweenResets: 1e9))
    let base = PatchBase(old)
    var delivery = planner.composed(against: base)
    if format.hasPrefix("only") {
      let codecs = abilities.codecs.filter { $0.isMapped }
      let size = delivery.partCount > 1 ? delivery.partSize : new.count
      delivery = planner.composed(against: base, partSize: size, codecs: codecs)
    }
    let seconds = secondsSince(start)
    try File.write(delivery.bytes, to: words[4])
    return "\(delivery.bytes.count)\t\(delivery.partCount)\t\(seconds)"
  }

  private static func secondsSince(_ start: clock_t) -> Double {
    Double(clock() - start) / Double(CLOCKS_PER_SEC)
  }

  private static func codec(_ text: String) throws(JobFault) -> PatchCodec {
    let words = text.split(separator: ",")
    switch (words.first, words.count) {
    case ("none", 1): return .none
    case ("crle", 1): return .crle
    case ("heatshrink", 3):
      guard let window = Int(words[1]), let lookahead = Int(words[2]),
        let parameters = HeatshrinkParameters(window: window, lookahead: lookahead)
      else { break }
      return .heatshrink(parameters)
    default: break
    }
    throw JobFault("no codec: \(text)")
  }
}

/// The reason why a job failed.
struct JobFault: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

/// Access to complete files.
enum File {
  static func read(_ path: String) throws(JobFault) -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw JobFault("\(path) cannot be read") }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let size = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = fread(buffer.baseAddress, 1, size, file)
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws(JobFault) {
    guard let file = fopen(path, "wb") else { throw JobFault("\(path) cannot be written") }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
      throw JobFault("\(path) cannot be written")
    }
  }
}
