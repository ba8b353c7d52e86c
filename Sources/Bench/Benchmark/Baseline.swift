import FoundationEssentials
import OtaflashConsole
import OtaflashDevices

/// The rates of an earlier run, read from its `--json` output.
package struct Baseline: Sendable {
  /// A case that is slower than permitted.
  package struct Shortfall: Equatable, Sendable {
    package let key: BenchmarkKey
    /// The rate as a fraction of the earlier rate.
    package let share: Double
  }

  private struct Kind: Decodable { let type: String }
  private struct Entry: Decodable {
    let rate: Double

    enum CodingKeys: String, CodingKey { case rate = "median_bytes_per_second" }
  }

  private let path: String
  private var rates: [BenchmarkKey: Double] = [:]

  /// Reads the measurements among JSON Lines; lines of other types are ignored.
  package init(path: String, lines: String) throws(BaselineFault) {
    self.path = path
    let decoder = JSONDecoder()
    for line in lines.split(separator: "\n") {
      let data = Data(line.utf8)
      do {
        guard try decoder.decode(Kind.self, from: data).type == "measurement" else { continue }
        let key = try decoder.decode(BenchmarkKey.self, from: data)
        rates[key] = try decoder.decode(Entry.self, from: data).rate
      } catch {
        throw .malformed(path: path)
      }
    }
    guard !rates.isEmpty else { throw .malformed(path: path) }
  }

  package static func load(_ path: String) throws(BaselineFault) -> Baseline {
    let lines: String
    do throws(FileFault) { lines = try TextFile(path: path).read() } catch { throw .file(error) }
    return try Baseline(path: path, lines: lines)
  }

  /// Returns the cases that both runs contain, and whose rate is less than `share` of the earlier
  /// median.
  package func shortfalls(
    of rows: [BenchmarkRow], below share: Double
  ) throws(BaselineFault) -> [Shortfall] {
    let compared = rows.compactMap { row in
      rates[row.key].map { Shortfall(key: row.key, share: row.rate(at: 50) / $0) }
    }
    guard !compared.isEmpty else { throw .nothingInCommon(path: path) }
    return compared.filter { $0.share < share }
  }
}

extension Baseline.Shortfall {
  /// The shortfall as text, such as `with-response, MTU 247 at 81.2% of the baseline`.
  package var sentence: String {
    let link = [key.phy, key.interval.map { Text.decimal($0) + " ms" }].compactMap { $0 }
    let window = key.window.map { ["window " + Text.grouped($0)] } ?? []
    let parts = [key.mode, "MTU \(key.mtu)"] + link + window
    return parts.joined(separator: ", ") + " at \(Text.fixed(share * 100))% of the baseline"
  }
}
