// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors in CI only: a newer compiler must not break a user's build.
let strict: [SwiftSetting] =
  Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")

/// A package that only campaigns need: SwiftPM does not fetch it without the trait.
func fleetOnly(_ name: String, package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Fleet"]))
}

/// A package that only campaigns over many sites need: SwiftPM does not fetch it without the trait.
func sitesOnly(_ name: String, package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Sites"]))
}

extension Target {
  /// A test target in its folder of `Tests/Unit`. Optimizing tests takes longer than it saves,
  /// unless the tests themselves calculate.
  static func unitTests(
    name: String, dependencies: [Dependency] = [], exclude: [String] = [],
    isOptimized: Bool = false
  ) -> Target {
    let plain: [SwiftSetting] = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
    return .testTarget(
      name: name, dependencies: dependencies, path: "Tests/Unit/\(name)", exclude: exclude,
      swiftSettings: strict + (isOptimized ? [] : plain))
  }
}

/// The targets needed to update a simulated device.
let simulatedUpdate: [Target.Dependency] = [
  "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate", "OtaflashSimulation",
]

/// The targets needed to update many simulated devices.
let simulatedFleet = simulatedUpdate + ["OtaflashFleet", "OtaflashFleetEngine"]

/// What the parts of the command line are made of that work on devices.
let devices: [Target.Dependency] = [
  "OtaflashConsole", "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashDelta",
  "OtaflashUpdate", "OtaflashSimulation", "OtaflashBlueZ", "OtaflashState",
  .product(name: "ArgumentParser", package: "swift-argument-parser"),
]

/// What runs a campaign on this host.
let campaigns: [Target.Dependency] =
  devices + ["OtaflashDevices", crypto]
  + ["", "Files", "Store", "Engine", "Hooks", "Forecast", "Report"].map {
    .target(name: "OtaflashFleet\($0)")
  }

/// `otaflash fleet`: the program has it only with the trait.
let fleetCommands: [Target.Dependency] = ["Host", "Commands"].map {
  .target(name: "OtaflashFleet\($0)", condition: .when(traits: ["Fleet"]))
}

let package = Package(
  name: "otaflash",
  products: [
    .library(name: "OtaflashCentral", targets: ["OtaflashATT", "OtaflashGATT", "OtaflashBlueZ"]),
    .library(name: "OtaflashUpdater", targets: ["OtaflashFirmware", "OtaflashUpdate"]),
    .library(
      name: "OtaflashSimulation",
      targets: [
        "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate", "OtaflashSimulation",
      ]),
    .library(name: "OtaflashCampaigns", targets: ["OtaflashFleet", "OtaflashFleetEngine"]),
    .library(name: "OtaflashState", targets: ["OtaflashState"]),
    .library(name: "OtaflashFoundation", targets: ["OtaflashFoundation"]),
    .executable(name: "otaflash", targets: ["otaflash"]),
  ],
  traits: [
    .trait(
      name: "Fleet",
      description: "`otaflash fleet`: campaigns over many devices. Needs libsqlite3-dev to build."),
    .trait(
      name: "Sites",
      description: "Campaigns over many sites, on NATS JetStream. Needs libnats-dev to build.",
      enabledTraits: ["Fleet"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .systemLibrary(
      name: "COtaflashBluetooth", path: "Sources/CBluetooth",
      providers: [.apt(["libbluetooth-dev"])]),
    .systemLibrary(
      name: "COtaflashZlib", path: "Sources/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "COtaflashNATS", path: "Sources/CNATS", providers: [.apt(["libnats-dev"])]),
    .target(
      name: "COtaflashTOML", path: "Sources/CTOML",
      linkerSettings: [.linkedLibrary("stdc++", .when(platforms: [.linux]))]),
    .target(name: "OTAReceiver", path: "Sources/OTAReceiver"),
    .target(name: "COtaflashTimeline", path: "Sources/CTimeline"),
    .target(name: "OtaflashWire", path: "Sources/Wire", swiftSettings: strict),
    .target(name: "OtaflashNumerals", path: "Sources/Numerals", swiftSettings: strict),
    .target(name: "OtaflashATT", path: "Sources/ATT", swiftSettings: strict),
    .target(
      name: "OtaflashGATT", dependencies: ["OtaflashNumerals", "OtaflashATT"],
      path: "Sources/GATT", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFirmware",
      dependencies: [
        "COtaflashZlib", crypto,
        .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
      ],
      path: "Sources/Firmware", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashDelta", dependencies: ["OtaflashFirmware"], path: "Sources/Delta",
      exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashUpdate",
      dependencies: [
        "OtaflashNumerals", "OtaflashWire", "OtaflashATT", "OtaflashGATT", "OtaflashFirmware",
        "OtaflashDelta", crypto,
      ],
      path: "Sources/Update",
      exclude: [
        "README.md", "OTAService/README.md", "SMP/README.md", "NordicSecure/README.md",
        "NordicLegacy/README.md", "FileTransfer/README.md", "Espressif/README.md",
        "SiliconLabs/README.md", "Telink/README.md", "SUOTA/README.md", "TIOAD/README.md",
        "Microbit/README.md",
      ],
      swiftSettings: strict),
    .target(
      name: "OtaflashSimulation",
      dependencies: [
        "COtaflashTimeline", "OTAReceiver", "OtaflashNumerals", "OtaflashWire", "OtaflashATT",
        "OtaflashGATT", "OtaflashFirmware", crypto,
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      path: "Sources/Simulation",
      exclude: [
        "README.md", "SMP/README.md", "NordicLegacy/README.md", "Espressif/README.md",
        "SiliconLabs/README.md", "Telink/README.md", "SUOTA/README.md", "TIOAD/README.md",
        "Microbit/README.md",
      ],
      swiftSettings: strict),
    .target(
      name: "OtaflashBlueZ",
      dependencies: [
        "COtaflashBluetooth", "OtaflashNumerals", "OtaflashWire", "OtaflashATT", "OtaflashGATT",
      ],
      path: "Sources/BlueZ", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFoundation",
      dependencies: ["OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate"],
      path: "Sources/Foundation", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashState",
      dependencies: [
        "OtaflashGATT", "OtaflashBlueZ", "OtaflashFirmware", "OtaflashUpdate", crypto,
      ],
      path: "Sources/State", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashConsole",
      dependencies: [
        "COtaflashTOML", "OtaflashNumerals",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/Console", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashDevices", dependencies: devices, path: "Sources/Devices",
      exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashBench", dependencies: devices + ["OtaflashDevices"], path: "Sources/Bench",
      exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashProgram", dependencies: devices + ["OtaflashDevices"], path: "Sources/Program",
      exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "otaflash",
      dependencies: devices + ["OtaflashDevices", "OtaflashBench", "OtaflashProgram"]
        + fleetCommands,
      path: "Sources/otaflash", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleet", dependencies: ["OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate"],
      path: "Sources/Fleet",
      exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetFiles",
      dependencies: [
        "OtaflashFirmware", "OtaflashUpdate", "OtaflashFleet", crypto,
        fleetOnly("Yams", package: "Yams"),
      ],
      path: "Sources/FleetFiles", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetStore",
      dependencies: [
        "OtaflashFirmware", "OtaflashFleet", crypto, fleetOnly("GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/FleetStore", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetEngine",
      dependencies: [
        "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate", "OtaflashFleet",
      ],
      path: "Sources/FleetEngine", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetHooks",
      dependencies: [
        "OtaflashFleet", "OtaflashFleetEngine",
        fleetOnly("Subprocess", package: "swift-subprocess"),
      ],
      path: "Sources/FleetHooks", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetForecast", dependencies: simulatedFleet, path: "Sources/FleetForecast",
      exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetReport",
      dependencies: [
        "OtaflashNumerals", "OtaflashATT", "OtaflashFirmware", "OtaflashFleet", crypto,
        fleetOnly("Mustache", package: "swift-mustache"),
      ],
      path: "Sources/FleetReport", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetHost", dependencies: campaigns, path: "Sources/FleetHost",
      exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashFleetCommands", dependencies: campaigns + ["OtaflashFleetHost"],
      path: "Sources/FleetCommands", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashNATS",
      dependencies: [.target(name: "COtaflashNATS", condition: .when(traits: ["Sites"])), crypto],
      path: "Sources/NATS", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashSites",
      dependencies: [
        "OtaflashGATT", "OtaflashFirmware", "OtaflashFleet", "OtaflashFleetEngine", "OtaflashNATS",
        crypto,
      ],
      path: "Sources/Sites", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashSitesPage",
      dependencies: [
        "OtaflashConsole", "OtaflashFirmware", "OtaflashFleet", "OtaflashFleetStore",
        "OtaflashFleetReport", "OtaflashFleetHost", crypto,
        .product(name: "CryptoExtras", package: "swift-crypto"),
        sitesOnly("Hummingbird", package: "hummingbird"),
        sitesOnly("HummingbirdCore", package: "hummingbird"),
        sitesOnly("HummingbirdTLS", package: "hummingbird"),
        sitesOnly("HTTPTypes", package: "swift-http-types"),
        sitesOnly("Logging", package: "swift-log"),
      ],
      path: "Sources/SitesPage", exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "OtaflashSitesSamples",
      dependencies: [
        "OtaflashFleet", "OtaflashFleetStore", "OtaflashFleetSamples", "OtaflashSitesPage",
      ],
      path: "Tests/System/SitesPage/Samples", swiftSettings: strict),
    .executableTarget(
      name: "sites-page-samples",
      dependencies: [
        "OtaflashFleet", "OtaflashFleetSamples", "OtaflashSitesPage", "OtaflashSitesSamples",
        sitesOnly("Logging", package: "swift-log"),
      ],
      path: "Tests/System/SitesPage/Server", swiftSettings: strict),
    .unitTests(
      name: "SitesPageTests",
      dependencies: [
        "OtaflashConsole", "OtaflashFirmware", "OtaflashFleet", "OtaflashFleetStore",
        "OtaflashFleetReport", "OtaflashFleetHost", "OtaflashFleetSamples", "OtaflashSitesPage",
        "OtaflashSitesSamples", crypto,
        sitesOnly("Hummingbird", package: "hummingbird"),
        sitesOnly("HummingbirdTesting", package: "hummingbird"),
        sitesOnly("HTTPTypes", package: "swift-http-types"),
        sitesOnly("Logging", package: "swift-log"),
      ]),
    .target(
      name: "OtaflashSiteHost",
      dependencies: campaigns + [
        "OtaflashFleetHost", "OtaflashNATS", "OtaflashSites",
        sitesOnly("Logging", package: "swift-log"),
      ],
      path: "Sources/SiteHost", exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "otaflash-gateway",
      dependencies: [
        "OtaflashConsole", "OtaflashDevices", "OtaflashProgram",
        .target(name: "OtaflashSiteHost", condition: .when(traits: ["Sites"])),
        .target(name: "OtaflashSites", condition: .when(traits: ["Sites"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        sitesOnly("Logging", package: "swift-log"),
      ],
      path: "Sources/otaflash-gateway", swiftSettings: strict),
    .executableTarget(
      name: "otaflash-coordinator",
      dependencies: campaigns + [
        "OtaflashProgram", "OtaflashFleetHost", "OtaflashFleetCommands",
        .target(name: "OtaflashNATS", condition: .when(traits: ["Sites"])),
        .target(name: "OtaflashSites", condition: .when(traits: ["Sites"])),
        .target(name: "OtaflashSiteHost", condition: .when(traits: ["Sites"])),
        .target(name: "OtaflashSitesPage", condition: .when(traits: ["Sites"])),
        sitesOnly("Logging", package: "swift-log"),
        sitesOnly("AsyncHTTPClient", package: "async-http-client"),
      ],
      path: "Sources/otaflash-coordinator", swiftSettings: strict),
    .unitTests(name: "NATSTests", dependencies: ["OtaflashNATS", "OtaflashNATSServer"]),
    .target(
      name: "OtaflashNATSServer", dependencies: ["OtaflashNATS"], path: "Tests/Support/NATSServer",
      swiftSettings: strict),
    .unitTests(
      name: "SitesTests",
      dependencies: [
        "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate", "OtaflashSimulation",
        "OtaflashFleet", "OtaflashFleetConformance", "OtaflashNATS", "OtaflashNATSServer",
        "OtaflashSites", crypto,
      ]),
    .target(
      name: "OtaflashFleetConformance", dependencies: ["OtaflashFleet"],
      path: "Tests/Support/FleetConformance", swiftSettings: strict),
    .unitTests(
      name: "FleetTests",
      dependencies: [
        "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashSimulation", "OtaflashFleet",
        "OtaflashFleetConformance", "OtaflashFleetReport", crypto,
      ]),
    .unitTests(
      name: "FleetEngineTests",
      dependencies: simulatedUpdate + [
        "OtaflashFleet", "OtaflashFleetEngine", "OtaflashFleetStore", "OtaflashFleetReport",
        "OtaflashSwarm",
      ]),
    .unitTests(
      name: "FleetReportTests",
      dependencies: [
        "OtaflashFirmware", "OtaflashFleet", "OtaflashFleetReport", "OtaflashFleetSamples",
      ]),
    .target(
      name: "OtaflashFleetSamples",
      dependencies: ["OtaflashFirmware", "OtaflashFleet"],
      path: "Tests/System/FleetReportPage/Samples",
      swiftSettings: strict),
    .executableTarget(
      name: "report-samples", dependencies: ["OtaflashFleetReport", "OtaflashFleetSamples"],
      path: "Tests/System/FleetReportPage/Command", swiftSettings: strict),
    .executableTarget(
      name: "fleet-swarm",
      dependencies: simulatedFleet + ["OtaflashFleetForecast", "OtaflashSampleFirmware"],
      path: "Tests/System/FleetSwarm", swiftSettings: strict),
    .executableTarget(
      name: "site-boards",
      dependencies: [
        "COtaflashBluetooth", "OtaflashATT", "OtaflashGATT", "OtaflashFirmware",
        "OtaflashSimulation", "OtaflashBlueZ",
      ],
      path: "Tests/System/Sites/Boards", swiftSettings: strict),
    .executableTarget(
      name: "site-gateways",
      dependencies: simulatedFleet + [
        "OtaflashBlueZ", "OtaflashFleetForecast", "OtaflashNATS", "OtaflashSites",
      ],
      path: "Tests/System/Sites/Gateways", swiftSettings: strict),
    .executableTarget(
      name: "site-dispatch",
      dependencies: [
        "OtaflashGATT", "OtaflashBlueZ", "OtaflashFleet", "OtaflashFleetEngine",
        "OtaflashFleetStore", "OtaflashNATS", "OtaflashSites",
      ],
      path: "Tests/System/Sites/Dispatch", swiftSettings: strict),
    .unitTests(
      name: "FleetForecastTests", dependencies: simulatedFleet + ["OtaflashFleetForecast"],
      isOptimized: true),
    .unitTests(
      name: "FleetStoreTests",
      dependencies: [
        "OtaflashATT", "OtaflashGATT", "OtaflashFirmware", "OtaflashSimulation", "OtaflashFleet",
        "OtaflashFleetStore", "OtaflashFleetConformance",
        fleetOnly("GRDB", package: "GRDB.swift"),
      ]),
    .unitTests(
      name: "FleetHooksTests",
      dependencies: ["OtaflashFleet", "OtaflashFleetEngine", "OtaflashFleetHooks"]),
    .unitTests(
      name: "FleetFilesTests",
      dependencies: ["OtaflashFirmware", "OtaflashFleet", "OtaflashFleetFiles"]),
    .executableTarget(
      name: "sink-device", dependencies: ["OTAReceiver"], path: "Benchmarks/Device"),
    .target(name: "PlainHost", dependencies: ["COtaflashZlib"], path: "Benchmarks/PlainHost"),
    .executableTarget(
      name: "goals",
      dependencies: simulatedUpdate + [
        "OtaflashDelta", "OtaflashBlueZ", "OtaflashSwarm", "OtaflashSampleFirmware", "PlainHost",
      ],
      path: "Benchmarks/Goals",
      swiftSettings: strict),
    .unitTests(
      name: "BenchmarkTests",
      dependencies: simulatedUpdate + [
        "OtaflashDelta", "OtaflashConsole", "OtaflashDevices", "OtaflashBench",
        "OtaflashSampleFirmware", "OtaflashProgram", "otaflash",
      ]),
    .target(
      name: "OtaflashSwarm", dependencies: simulatedUpdate, path: "Tests/System/Swarm/Scenario",
      swiftSettings: strict),
    .executableTarget(
      name: "otaflash-swarm", dependencies: ["OtaflashSwarm"], path: "Tests/System/Swarm/Command",
      swiftSettings: strict),
    .unitTests(
      name: "SweepTests", dependencies: simulatedUpdate + ["OtaflashDelta", "OtaflashSwarm"]),
    .unitTests(
      name: "DeltaTests",
      dependencies: [
        "OTAReceiver", "OtaflashDelta", "OtaflashSampleFirmware", "OtaflashTestSupport",
      ],
      isOptimized: true),
    .executableTarget(
      name: "delta-codec", dependencies: ["OtaflashDelta"], path: "Tests/System/DeltaOracle/Codec",
      swiftSettings: strict),
    .target(
      name: "OtaflashSampleFirmware", dependencies: ["OtaflashSimulation"],
      path: "Tests/Support/SampleFirmware", swiftSettings: strict),
    .target(
      name: "OtaflashTestSupport", dependencies: ["OtaflashFirmware"],
      path: "Tests/Support/Common", swiftSettings: strict),
    .unitTests(
      name: "HouseTests", exclude: ["dialect.tsv", "permitted.tsv"], isOptimized: true),
    .unitTests(
      name: "ATTTests", dependencies: ["OtaflashATT", "OtaflashTestSupport"]),
    .unitTests(
      name: "GATTTests",
      dependencies: [
        "OtaflashATT", "OtaflashGATT", "OtaflashSimulation", "OtaflashTestSupport",
      ]),
    .unitTests(
      name: "GATTServerTests",
      dependencies: ["OtaflashATT", "OtaflashGATT", "OtaflashTestSupport"]),
    .unitTests(
      name: "FoundationTests", dependencies: simulatedUpdate + ["OtaflashFoundation"]),
    .unitTests(
      name: "StateTests",
      dependencies: ["OtaflashGATT", "OtaflashBlueZ", "OtaflashFirmware", "OtaflashState"]),
    .unitTests(
      name: "BlueZTests",
      dependencies: [
        "COtaflashBluetooth", "OtaflashWire", "OtaflashATT", "OtaflashGATT", "OtaflashBlueZ",
      ]),
    .unitTests(
      name: "CLITests",
      dependencies: [
        "otaflash", "OtaflashProgram", "OtaflashConsole", "OtaflashDevices", "OtaflashBench",
        "OtaflashBlueZ",
        "OtaflashState", "OtaflashATT", "OtaflashGATT",
        "OtaflashFirmware", "OtaflashDelta", "OtaflashUpdate", "OtaflashSimulation",
        "OtaflashTestSupport",
        "OtaflashFleet", "OtaflashFleetStore", "OtaflashFleetHost", "OtaflashFleetCommands",
        .target(name: "OtaflashNATS", condition: .when(traits: ["Sites"])),
        .target(name: "OtaflashSites", condition: .when(traits: ["Sites"])),
        .target(name: "OtaflashSiteHost", condition: .when(traits: ["Sites"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .unitTests(
      name: "FirmwareTests", dependencies: ["OtaflashFirmware", "OtaflashTestSupport"],
      exclude: ["Fixtures"], isOptimized: true),
    .executableTarget(
      name: "zip-reader", dependencies: ["OtaflashFirmware"], path: "Tests/System/ZipOracle/Reader",
      swiftSettings: strict),
    .unitTests(
      name: "UpdateTests",
      dependencies: simulatedUpdate + [
        "OtaflashWire", "OtaflashDelta", "OtaflashSampleFirmware", "OtaflashTestSupport",
      ]),
    .executableTarget(
      name: "smp-codec", dependencies: ["OtaflashWire", "OtaflashTestSupport"],
      path: "Tests/System/SMPOracle/Codec",
      swiftSettings: strict),
    .unitTests(
      name: "SMPTests",
      dependencies: simulatedUpdate + ["OtaflashWire", crypto, "OtaflashTestSupport"]),
    .unitTests(
      name: "NordicTests", dependencies: simulatedUpdate + [crypto, "OtaflashTestSupport"]),
    .unitTests(
      name: "EspressifTests", dependencies: simulatedUpdate + ["OtaflashTestSupport"],
      exclude: ["Fixtures"]),
    .unitTests(
      name: "SiliconLabsTests", dependencies: simulatedUpdate + [crypto, "OtaflashTestSupport"]),
    .unitTests(
      name: "TelinkTests", dependencies: simulatedUpdate + ["OtaflashWire", "OtaflashTestSupport"]),
    .unitTests(name: "SUOTATests", dependencies: simulatedUpdate + ["OtaflashTestSupport"]),
    .unitTests(
      name: "TIOADTests", dependencies: simulatedUpdate + ["OtaflashWire", "OtaflashTestSupport"]),
    .unitTests(
      name: "MicrobitTests",
      dependencies: simulatedUpdate + ["OtaflashWire", "OtaflashTestSupport"]),
    .unitTests(
      name: "SimulationTests",
      dependencies: simulatedUpdate + [
        "OtaflashWire", "OtaflashDelta", crypto, "OtaflashTestSupport",
      ]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

/// Example programs of the library, each in its own folder; ExamplesTests runs them all.
let examples = ["HeartRate", "DeviceInformation", "Battery", "Thermostat"]

package.targets += examples.map { name in
  .executableTarget(
    name: name, dependencies: ["OtaflashGATT", "OtaflashSimulation"],
    path: "Examples/\(name)", swiftSettings: strict)
}
package.targets += [
  .executableTarget(
    name: "FleetFlash",
    dependencies: [
      "OtaflashGATT", "OtaflashFirmware", "OtaflashUpdate", "OtaflashSimulation", "OtaflashBlueZ",
    ],
    path: "Examples/FleetFlash", swiftSettings: strict),
  .executableTarget(
    name: "Nearby",
    dependencies: ["OtaflashGATT", "OtaflashSimulation", "OtaflashBlueZ"],
    path: "Examples/Nearby", swiftSettings: strict),
  .unitTests(
    name: "ExamplesTests",
    dependencies: (examples + ["FleetFlash", "Nearby"]).map { .target(name: $0) }),
]

#if os(Linux)
// A mock of Core Bluetooth's declarations, to compile and test the adapter of the example.
package.targets += [
  .target(
    name: "CoreBluetooth", path: "Tests/Support/CoreBluetooth/Mock",
    swiftSettings: [.swiftLanguageMode(.v5)]),
  .target(
    name: "CoreBluetoothSample", dependencies: ["CoreBluetooth", "OtaflashGATT"],
    path: "Examples/CoreBluetooth", swiftSettings: strict),
  .unitTests(
    name: "CoreBluetoothTests",
    dependencies: simulatedUpdate + ["CoreBluetooth", "CoreBluetoothSample"]),
]
#endif

// Without BlueZ the library has no adapters: a client provides its own links, scanners and clock
// (docs/platforms.md). `Tests/System/Client/run` tests this on Linux with the environment variable.
#if os(Linux)
let hasBlueZ = Context.environment["OTAFLASH_BLUEZ"] != "none"
#else
let hasBlueZ = false
#endif

extension Target {
  func needs(_ others: Set<String>) -> Bool {
    dependencies.contains { dependency in
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): others.contains(name)
      case .productItem: false
      @unknown default: false
      }
    }
  }
}

if !hasBlueZ {
  var left: Set = ["COtaflashBluetooth", "COtaflashTOML", "OtaflashConsole"]
  while let next = package.targets.first(where: { !left.contains($0.name) && $0.needs(left) }) {
    left.insert(next.name)
  }
  package.targets.removeAll { left.contains($0.name) }
  package.products = package.products.compactMap { product in
    guard let library = product as? Product.Library else { return nil }
    let targets = library.targets.filter { !left.contains($0) }
    return targets.isEmpty ? nil : .library(name: library.name, targets: targets)
  }
}
