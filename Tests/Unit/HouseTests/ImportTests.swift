import Foundation
import Testing

/// Tests of the architecture rules that the compiler does not check: the permitted imports of each
/// target, and the files that may use the system.
@Suite struct ImportTests {
  /// The permitted imports of each target, in addition to the standard library's modules.
  static let permitted: [String: Set<String>] = [
    "Numerals": [],
    "Wire": [],
    "ATT": [],
    "GATT": ["OtaflashNumerals", "OtaflashATT"],
    "Firmware": ["COtaflashZlib", "Crypto", "CryptoExtras", "SwiftASN1"],
    "Delta": ["OtaflashFirmware"],
    "Update": [
      "OtaflashNumerals", "OtaflashWire", "OtaflashATT", "OtaflashGATT", "OtaflashFirmware",
      "OtaflashDelta", "Crypto",
    ],
    "Fleet": ["OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate"],
    "FleetFiles": [
      "OtaflashFirmware", "OtaflashUpdate", "OtaflashFleet", "Crypto", "Yams", "Foundation",
      "FoundationEssentials",
    ],
    "FleetEngine": [
      "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate", "OtaflashFleet",
    ],
    "FleetHooks": [
      "OtaflashFleet", "OtaflashFleetEngine", "Subprocess", "SystemPackage", "Glibc",
    ],
    "NATS": ["COtaflashNATS", "Crypto", "FoundationEssentials", "Glibc"],
    "Sites": [
      "OtaflashGATT", "OtaflashFirmware", "OtaflashFleet", "OtaflashFleetEngine", "OtaflashNATS",
      "Crypto", "FoundationEssentials", "Glibc",
    ],
    "SiteHost": campaigns.union([
      "OtaflashFleetHost", "OtaflashNATS", "OtaflashSites", "Logging",
    ]),
    "otaflash-gateway": [
      "OtaflashConsole", "OtaflashDevices", "OtaflashProgram", "OtaflashSiteHost",
      "OtaflashSites", "ArgumentParser", "Logging", "Glibc",
    ],
    "otaflash-coordinator": campaigns.union([
      "OtaflashProgram", "OtaflashFleetHost", "OtaflashFleetCommands", "OtaflashNATS",
      "OtaflashSites", "OtaflashSiteHost", "OtaflashSitesPage", "AsyncHTTPClient", "NIOCore",
      "NIOSSL", "Logging",
    ]),
    "SitesPage": [
      "OtaflashConsole", "OtaflashATT", "OtaflashFirmware", "OtaflashFleet", "OtaflashFleetStore",
      "OtaflashFleetReport", "OtaflashFleetHost", "Crypto", "CryptoExtras", "Hummingbird",
      "HummingbirdCore", "HummingbirdTLS", "HTTPTypes", "Logging", "FoundationEssentials", "Glibc",
    ],
    "FleetStore": ["OtaflashFirmware", "OtaflashFleet", "Crypto", "GRDB", "FoundationEssentials"],
    "FleetForecast": [
      "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate", "OtaflashSimulation",
      "OtaflashFleet", "OtaflashFleetEngine",
    ],
    "FleetReport": [
      "OtaflashNumerals", "OtaflashATT", "OtaflashFirmware", "OtaflashFleet", "Crypto", "Mustache",
    ],
    "Simulation": [
      "OtaflashNumerals", "COtaflashTimeline", "OTAReceiver", "OtaflashWire", "OtaflashATT",
      "OtaflashGATT",
      "OtaflashFirmware", "Crypto", "CryptoExtras",
    ],
    "BlueZ": [
      "OtaflashNumerals", "COtaflashBluetooth", "OtaflashWire", "OtaflashATT", "OtaflashGATT",
      "Glibc",
      "FoundationEssentials",
    ],
    "Foundation": [
      "Foundation", "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate",
    ],
    "Console": [
      "COtaflashTOML", "OtaflashNumerals", "ArgumentParser", "Glibc", "FoundationEssentials",
    ],
    "Devices": devices,
    "Bench": devices.union(["OtaflashDevices"]),
    "FleetHost": campaigns,
    "FleetCommands": campaigns.union(["OtaflashFleetHost"]),
    "Program": devices.union(["OtaflashDevices"]),
    "otaflash": devices.union([
      "OtaflashDevices", "OtaflashBench", "OtaflashProgram", "OtaflashFleetHost",
      "OtaflashFleetCommands",
    ]),
    "State": [
      "OtaflashGATT", "OtaflashBlueZ", "OtaflashFirmware", "OtaflashUpdate", "Crypto", "Glibc",
      "FoundationEssentials",
    ],
  ]
  /// The permitted imports of the parts of the command line that work on devices.
  static let devices: Set<String> = [
    "OtaflashConsole", "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashDelta",
    "OtaflashUpdate", "OtaflashSimulation", "OtaflashBlueZ", "OtaflashState", "ArgumentParser",
    "Glibc", "FoundationEssentials",
  ]
  /// The permitted imports of the parts of the command line that run campaigns.
  static let campaigns = devices.union([
    "OtaflashDevices", "OtaflashFleet", "OtaflashFleetFiles", "OtaflashFleetStore",
    "OtaflashFleetEngine", "OtaflashFleetHooks", "OtaflashFleetForecast", "OtaflashFleetReport",
    "Crypto",
  ])
  /// The only file of the simulation that stores a device's flash in a file.
  static let exceptions = ["Sources/Simulation/Flash/FlashFile.swift": "Glibc"]
  static let standard: Set<String> = ["Synchronization", "_Concurrency", "RegexBuilder"]

  /// APIs that would make a simulated run depend on more than its seed.
  static let realWorld = [
    "Task.sleep", "ContinuousClock", "SuspendingClock", "Date()", "Task.detached", "DispatchQueue",
    "Thread(", "usleep(", "SystemRandomNumberGenerator",
  ]

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func files(of folder: String) throws -> [(path: String, text: String)] {
    let base = root.appending(path: folder)
    let walker = try #require(FileManager.default.enumerator(atPath: base.path))
    return try walker.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
      .map { file in
        ("\(folder)/\(file)", try String(contentsOf: base.appending(path: file), encoding: .utf8))
      }
  }

  @Test(arguments: permitted.keys.sorted())
  func aTargetImportsOnlyThoseBeforeIt(_ target: String) throws {
    let files = try Self.files(of: "Sources/\(target)")
    #expect(!files.isEmpty)
    for file in files {
      for line in file.text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let index = words.firstIndex(of: "import"), index <= 1, index + 1 < words.count,
          words[0] == "import" || words[0].hasPrefix("@") || words[0] == "public"
            || words[0] == "private" || words[0] == "internal"
        else { continue }
        let module = String(words[index + 1])
        #expect(
          Self.standard.contains(module) || Self.permitted[target]?.contains(module) == true
            || Self.exceptions[file.path] == module,
          "\(file.path) imports \(module)")
      }
    }
  }

  /// The files that may use an API in `realWorld`. They belong to the event loop, the command line,
  /// and hooks, which are processes.
  static let filesInTheRealWorld: Set = [
    "Sources/BlueZ/EventLoop/EventLoop.swift", "Sources/Console/Files/InputFile.swift",
    "Sources/Console/Output/OutputQueue.swift",
    "Sources/Console/Session/DesktopNotification.swift",
    "Sources/Console/Session/Interruption.swift", "Sources/Console/Session/Pause.swift",
    "Sources/Console/Session/ProcessorWait.swift",
    "Sources/Devices/Air/SimulatedAir+Survey.swift", "Sources/Devices/Choosing/LiveScan.swift",
    "Sources/Devices/Output/UpdateDisplay.swift", "Sources/FleetHooks/ForegroundProgram.swift",
    "Sources/FleetHooks/ProcessHooks.swift", "Sources/FleetCommands/Plan/ForecastRenderer.swift",
    "Sources/FleetCommands/Requests/FleetRequest.swift", "Sources/Program/Process/Program.swift",
  ]

  @Test func timeAndChanceAreInjected() throws {
    var found: Set<String> = []
    for file in try Self.files(of: "Sources") {
      for word in Self.realWorld where file.text.contains(word) {
        found.insert(file.path)
        if !Self.filesInTheRealWorld.contains(file.path) {
          Issue.record("\(file.path) uses \(word)")
        }
      }
    }
    #expect(found == Self.filesInTheRealWorld, "each exception is needed")
  }

  /// The files that may create unstructured tasks: the waits that outlive their callers, the root
  /// of the simulation, and two files of the program, for the program itself and for the command
  /// that a signal cancels.
  static let tasksThatAreNoChildren: Set = [
    "Sources/GATT/Concurrency/Shield.swift", "Sources/Simulation/Time/VirtualTimeline.swift",
    "Sources/Program/Process/Program.swift", "Sources/Program/Process/Run.swift",
  ]

  @Test(arguments: permitted.keys.sorted())
  func unstructuredTasksAreMadeInOnePlace(_ target: String) throws {
    for file in try Self.files(of: "Sources/\(target)")
    where file.text.contains(/\bTask(\.detached)? ?[({]/) {
      #expect(
        Self.tasksThatAreNoChildren.contains(file.path),
        "\(file.path) creates an unstructured task")
    }
  }

  /// Constructs that hide a failure, or disable a check of the compiler. They are matched by word:
  /// `Entry?` is not a match.
  static let hiding = [
    #"\btry\?"#, #"\btry!"#, #"\bas!"#, #"\bcatch\s*\{\s*\}"#, #"@unchecked\b"#, #"\bfatalError\("#,
    #"nonisolated\(unsafe\)"#, #"@preconcurrency\b"#,
  ]

  @Test(arguments: permitted.keys.sorted())
  func noFailureIsHidden(_ target: String) throws {
    for file in try Self.files(of: "Sources/\(target)") {
      for pattern in Self.hiding {
        for match in file.text.matches(of: try Regex(pattern)) {
          let line = file.text[..<match.range.lowerBound].count { $0 == "\n" } + 1
          Issue.record("\(file.path):\(line) has \(file.text[match.range])")
        }
      }
    }
  }

  /// The files that may be longer: each row of the table of error codes is read without the other
  /// rows.
  static let tables: Set = ["Sources/Devices/Faults/FaultTable.swift"]

  @Test(arguments: permitted.keys.sorted())
  func filesStaySmall(_ target: String) throws {
    for file in try Self.files(of: "Sources/\(target)") where !Self.tables.contains(file.path) {
      let lines = file.text.count { $0 == "\n" }
      #expect(lines <= 400, "\(file.path) has \(lines) lines")
    }
  }

  /// The formatter wraps code, but does not change comments and strings.
  @Test(arguments: permitted.keys.sorted())
  func linesStayShort(_ target: String) throws {
    for file in try Self.files(of: "Sources/\(target)") {
      let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() where line.count > 100 {
        Issue.record("\(file.path):\(index + 1) has \(line.count) characters")
      }
    }
  }
}
