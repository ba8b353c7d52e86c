/// The targets by their names. The program of each target is a link to one program.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "ATTCodec": fuzzATTCodec,
  "Advertising": fuzzAdvertising,
  "Campaign": fuzzCampaign,
  "DeviceTable": fuzzDeviceTable,
  "ELF": fuzzELF,
  "ESPImage": fuzzESPImage,
  "EspressifUpdate": fuzzEspressifUpdate,
  "GATTClient": fuzzGATTClient,
  "GATTServer": fuzzGATTServer,
  "GBL": fuzzGBL,
  "HCIEvents": fuzzHCIEvents,
  "ImageFile": fuzzImageFile,
  "InitPacket": fuzzInitPacket,
  "IntelHex": fuzzIntelHex,
  "LegacyUpdate": fuzzLegacyUpdate,
  "MCUboot": fuzzMCUboot,
  "Manifest": fuzzManifest,
  "MgmtEvents": fuzzMgmtEvents,
  "MicrobitHex": fuzzMicrobitHex,
  "MicrobitUpdate": fuzzMicrobitUpdate,
  "NordicDFU": fuzzNordicDFU,
  "OADImage": fuzzOADImage,
  "OADUpdate": fuzzOADUpdate,
  "OTAMessages": fuzzOTAMessages,
  "OTAUpdate": fuzzOTAUpdate,
  "Pairing": fuzzPairing,
  "Patch": fuzzPatch,
  "ResourceUpdate": fuzzResourceUpdate,
  "SMP": fuzzSMP,
  "SMPUpdate": fuzzSMPUpdate,
  "SRecord": fuzzSRecord,
  "SUOTAImage": fuzzSUOTAImage,
  "SUOTAUpdate": fuzzSUOTAUpdate,
  "SecureUpdate": fuzzSecureUpdate,
  "Selector": fuzzSelector,
  "SilabsUpdate": fuzzSilabsUpdate,
  "SimulationProfile": fuzzSimulationProfile,
  "TelinkImage": fuzzTelinkImage,
  "TelinkUpdate": fuzzTelinkUpdate,
  "UF2": fuzzUF2,
  "Zip": fuzzZip,
]

/// The target that the name of the program selects.
private let target: @Sendable ([UInt8]) -> Void = {
  let name = CommandLine.arguments[0].split(separator: "/").last.map(String.init) ?? ""
  guard let target = targets[name] else { fatalError("no target '\(name)'") }
  return target
}()

/// Runs one execution of the target.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  target([UInt8](UnsafeBufferPointer(start: data, count: size)))
  return 0
}
