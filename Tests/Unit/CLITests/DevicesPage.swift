import OtaflashUpdate

/// A product, or a firmware stack, in the table of docs/devices.md.
struct ServedDevice {
  /// The way in which the protocol was tried for this product.
  enum Trial: String {
    /// Complete updates of a simulated device that follows the vendor's source.
    case simulatorFromSource = "simulator, from the vendor's source"
    /// Complete updates of a simulated device that follows documents and open clients.
    case simulatorFromDocuments = "simulator, from documents"
    /// The same C code as on the device, in a process.
    case deviceCode = "the device's own code, in a process"
  }

  let name: String
  let updateProtocol: UpdateProtocol
  /// The firmware file and the device in the example.
  let file: String
  let device: String
  let trial: Trial
  let limits: String

  init(
    _ name: String, _ updateProtocol: UpdateProtocol, _ file: String, on device: String,
    _ trial: Trial, _ limits: String
  ) {
    (self.name, self.updateProtocol, self.file) = (name, updateProtocol, file)
    (self.device, self.trial, self.limits) = (device, trial, limits)
  }

  var row: String {
    "| \(name) | \(updateProtocol) | `otaflash flash \(file) -d \(device)` | \(trial.rawValue) "
      + "| \(limits) |"
  }
}

extension ServedDevice {
  private static let anyDevice = "C0:FF:EE:00:00:01"

  static let all: [ServedDevice] = [
    ServedDevice(
      "PineTime with InfiniTime", .nordicLegacy, "pinetime-mcuboot-app-dfu-1.15.0.zip",
      on: "name:InfiniTime", .simulatorFromSource,
      "Packets have 20 bytes (about 4 kB/s). Validate the new version on the watch, or the next "
        + "restart reverts it. An interrupted transfer starts over. Add `--resources "
        + "infinitime-resources-1.15.0.zip` for fonts and pictures; their transfer resumes. "
        + "Newer versions require permission in Settings, Over-the-air; choose Enabled, because "
        + "'Till reboot' ends before the resources are sent."),
    ServedDevice(
      "Bangle.js, Puck.js, Pixl.js and other Espruino boards", .nordicSecure,
      "espruino_2v24_banglejs2.zip", on: "name:DfuTarg", .simulatorFromSource,
      "Start the bootloader with the button first. The bootloader of SDK 12 may refuse a second "
        + "transfer of a small application until it restarts (Espruino, issue 2708)."),
    ServedDevice(
      "RuuviTag", .nordicSecure, "ruuvitag_b_armgcc_ruuvifw_default.zip", on: "name:RuuviBoot",
      .simulatorFromSource, "Start the bootloader with the buttons first."),
    ServedDevice(
      "RAK4631, T-Echo, T114 and XIAO nRF52840 with MeshCore or Meshtastic", .nordicLegacy,
      "firmware-rak4631-ota.zip", on: anyDevice, .simulatorFromSource,
      "The bootloader is Adafruit's. It erases the old application first: an interrupted transfer "
        + "leaves the device in its bootloader, and the same command starts over."),
    ServedDevice(
      "Adafruit Feather, ItsyBitsy and CLUE nRF52 (Arduino, CircuitPython)", .nordicLegacy,
      "app.zip", on: "name:AdaDFU", .simulatorFromSource,
      "Create the package with `adafruit-nrfutil dfu genpkg`. An interrupted transfer starts "
        + "over."),
    ServedDevice(
      "Zephyr with MCUmgr over Bluetooth", .smp, "zephyr.signed.bin", on: "name:Zephyr",
      .simulatorFromSource,
      "If the firmware does not report its buffers (MCUMGR_GRP_OS_MCUMGR_PARAMS), one request at "
        + "a time is sent."),
    ServedDevice(
      "nRF Connect SDK 2.x and 3.x: nRF52, nRF53, nRF54L", .smp, "dfu_application.zip",
      on: anyDevice, .simulatorFromSource,
      "With SDK 2.6 to 3.4, an nRF5340 may skip the image of its network core; otaflash marks this "
        + "image first."),
    ServedDevice(
      "nRF Connect SDK Bare Metal: nRF54L", .smp, "app.signed.bin", on: anyDevice,
      .simulatorFromSource, "One slot, with a firmware loader at another address."),
    ServedDevice(
      "nRF5 SDK 12 to 17", .nordicSecure, "app_dfu_package.zip", on: "name:DfuTarg",
      .simulatorFromSource, "A device that reports no version is verified only by its bootloader."),
    ServedDevice(
      "nRF5 SDK 11 and earlier", .nordicLegacy, "app_dfu_package.zip", on: "name:DfuTarg",
      .simulatorFromSource, "An interrupted transfer starts over."),
    ServedDevice(
      "Apache Mynewt", .smp, "app.img", on: anyDevice, .simulatorFromSource,
      "The server follows the rules of mcumgr of 2021."),
    ServedDevice(
      "Thermometers of Xiaomi and others (LYWSD03MMC, MHO-C401, CGG1) with ATC or pvvx firmware",
      .telink, "ATC_v58.bin", on: "name:ATC_012345", .simulatorFromDocuments,
      "An interrupted transfer starts over; the old firmware keeps running. Firmware of more than "
        + "128 kB needs the extended OTA of pvvx first. Use a good battery."),
    ServedDevice(
      "Telink TLSR82xx: remote controls, keyboards, lamps", .telink, "app.bin", on: anyDevice,
      .simulatorFromDocuments,
      "The device limits the time of a transfer (30 s by default); otaflash predicts the time "
        + "first. Old SDKs report no result."),
    ServedDevice(
      "Renesas (Dialog) DA1453x, DA1458x: trackers, buttons, sensors, ActiveLook glasses", .suota,
      "app.img", on: anyDevice, .simulatorFromSource,
      "Some boards need `--suota-pins`; some products start SUOTA only in an update mode. Without a "
        + "version in Device Information, only the restart is reported."),
    ServedDevice(
      "Renesas (Dialog) DA1468x, DA1469x: wearables", .suota, "app.img", on: anyDevice,
      .simulatorFromSource,
      "An interrupted transfer starts over; the device restarts whenever the link ends."),
    ServedDevice(
      "ESP32 with ESP-IDF's ble_ota or ble_ota_raw, NimBLEOta or BLEOTA", .espressif,
      "build/app.bin", on: anyDevice, .simulatorFromSource,
      "The application must contain the service 0x8018. ble_ota checks no sector CRC. Without a "
        + "version in Device Information, only the restart is reported."),
    ServedDevice(
      "TI CC2642, CC2652, CC1352, CC2640R2 with OAD (enhanced)", .tiOAD, "app_oad.bin",
      on: anyDevice, .simulatorFromSource,
      "An interrupted transfer starts over; the old firmware keeps running. On-chip OAD: start the "
        + "persistent application first. Change the software version in the header: without a new "
        + "version, only the restart is reported."),
    ServedDevice(
      "TI CC23xx and later with OAD and MCUboot", .tiOAD, "app.signed.bin", on: anyDevice,
      .simulatorFromSource, "The ATT_MTU must be 243 or more. With external flash, pad the image."),
    ServedDevice(
      "LEGO Mario, Luigi, Peach and Technic Move Hub", .tiOAD, "firmware.bin", on: anyDevice,
      .simulatorFromDocuments, "The image must have the identification `LEGO 132`; pair first."),
    ServedDevice(
      "OpenDisplay e-paper tags with EFR32", .silabs, "app.gbl", on: anyDevice,
      .simulatorFromDocuments, "An interrupted transfer starts over in the AppLoader."),
    ServedDevice(
      "Silicon Labs EFR32 and BGM with AppLoader or application OTA", .silabs, "app.gbl",
      on: "name:OTA", .simulatorFromDocuments,
      "Application OTA reports no result of its verification."),
    ServedDevice(
      "BBC micro:bit V1 and V2, Calliope mini, with MakeCode or MicroPython", .microbit,
      "microbit-program.hex", on: anyDevice, .simulatorFromSource,
      "Hold A and B, press reset, and release them when the display is filled, unless the running "
        + "program uses Bluetooth. Only the script is sent, or the complete program if the runtime "
        + "differs."),
    ServedDevice(
      "Your own firmware: Zephyr, nRF5 SDK, bare metal", .otaflash, "app.hex", on: "name:door-01",
      .deviceCode,
      "Add [the receiver in C99](your-device.md), also [next to MCUboot](mcuboot.md). The only "
        + "protocol with patches."),
  ]

  /// Products whose update protocol otaflash does not support, with the reason.
  static let unsupported: [(name: String, reason: String)] = [
    ("TI CC254x and CC2640 with the old OAD", "not supported"),
    ("LEGO Move, City and Technic hubs", "their bootloader (LWP3) is not supported"),
    ("STM32WB (BLE_Ota), NXP (OTAP), Microchip, Infineon PSoC", "not supported"),
    ("Meshtastic on ESP32", "its loader is not supported; use its own app"),
    (
      "Xiaomi devices with the vendor's firmware, Realtek, Jieli, headsets",
      "the update needs secrets of the vendor"
    ),
    ("ESPHome, Tasmota, Shelly", "they are updated over Wi-Fi"),
    (
      "Arduino Nano 33 BLE and other boards without a Bluetooth bootloader",
      "add [the receiver](your-device.md) to the firmware"
    ),
  ]
}

/// docs/devices.md.
enum DevicesPage {
  static let path = "docs/devices.md"

  static var text: String {
    let rows = ServedDevice.all.map(\.row).joined(separator: "\n")
    let others = ServedDevice.unsupported.map { "| \($0.name) | \($0.reason) |" }
      .joined(separator: "\n")
    return """
      # Devices

      This page lists, by product and by firmware stack, the update protocol, an example, how the
      protocol was tried, and known limits.

      - `otaflash info -d C0:FF:EE:00:00:01` reports the update protocol of a device in
        range; nothing is written. With a file, it also reports whether the device would accept it.
      - `flash` determines the protocol itself; `--protocol` selects one.
      - The updates of these products were tested without real hardware. "Simulator" means that
        complete updates of a simulated device pass, with lost links and packets at every point.

      | product or stack | protocol | example | tried with | limits |
      |---|---|---|---|---|
      \(rows)

      ## Not supported

      | product | reason |
      |---|---|
      \(others)

      """
  }
}
