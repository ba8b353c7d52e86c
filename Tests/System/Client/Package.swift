// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "door",
  dependencies: [
    .package(name: "otaflash", path: "../../..")
  ],
  targets: [
    .target(
      name: "Door",
      dependencies: [
        .product(name: "OtaflashCentral", package: "otaflash"),
        .product(name: "OtaflashUpdater", package: "otaflash"),
        .product(name: "OtaflashState", package: "otaflash"),
      ]),
    .testTarget(
      name: "DoorTests",
      dependencies: ["Door", .product(name: "OtaflashSimulation", package: "otaflash")]),
  ],
  swiftLanguageModes: [.v6]
)

// The app uses only products of the package, and therefore only public declarations, like any
// client. `make client` builds and tests the app. `docs/library.md` shows the dependency as
// declared above.
package.targets += [
  // The first program of the page "Your first central in ten minutes".
  .executableTarget(
    name: "NearestDoor", dependencies: [.product(name: "OtaflashCentral", package: "otaflash")]),
  // The snippets of the pages in Sources/*/Documentation.docc, one in each file.
  .target(
    name: "Snippets",
    dependencies: [
      .product(name: "OtaflashCentral", package: "otaflash"),
      .product(name: "OtaflashUpdater", package: "otaflash"),
      .product(name: "OtaflashFoundation", package: "otaflash"),
    ]),
  .testTarget(
    name: "SnippetTests",
    dependencies: ["Snippets", .product(name: "OtaflashSimulation", package: "otaflash")]),
  // A custom link, scanner and clock, for a system without BlueZ.
  .target(
    name: "Elsewhere", dependencies: [.product(name: "OtaflashCentral", package: "otaflash")]),
  .testTarget(
    name: "ElsewhereTests",
    dependencies: [
      "Elsewhere", "Door", .product(name: "OtaflashSimulation", package: "otaflash"),
    ]),
  // A campaign over many doors.
  .testTarget(
    name: "CampaignTests",
    dependencies: [
      .product(name: "OtaflashCampaigns", package: "otaflash"),
      .product(name: "OtaflashCentral", package: "otaflash"),
      .product(name: "OtaflashUpdater", package: "otaflash"),
      .product(name: "OtaflashSimulation", package: "otaflash"),
    ]),
  // A package that only tests updates needs no other product.
  .testTarget(
    name: "AloneTests", dependencies: [.product(name: "OtaflashSimulation", package: "otaflash")]),
]

// Without BlueZ, the app excludes the files that use an adapter or the files of the command line;
// the rest is unchanged.
#if os(Linux)
let hasBlueZ = Context.environment["OTAFLASH_BLUEZ"] != "none"
#else
let hasBlueZ = false
#endif
if !hasBlueZ {
  package.targets.removeAll { $0.name == "NearestDoor" }
  for target in package.targets {
    switch target.name {
    case "Door":
      target.exclude = ["FirstUse.swift", "ReadNearestDoorHere.swift", "RealDoor.swift"]
      target.dependencies.removeLast()
    case "Snippets": target.exclude = ["PairedDevice.swift"]
    case "DoorTests": target.exclude = ["SocketTests.swift", "StateTests.swift"]
    case "CampaignTests": target.exclude = ["SocketCampaignTests.swift"]
    default: break
    }
  }
}
