// swift-tools-version: 6.2
import PackageDescription

// An app as its developer writes it. It depends on the package by its products alone, so nothing but
// public declarations can be used here. `make client` builds and tests it.
let package = Package(
  name: "door",
  dependencies: [
    .package(name: "otaflash", path: "../..")
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
