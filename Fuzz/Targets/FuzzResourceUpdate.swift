import OtaflashFirmware
import OtaflashUpdate

private let package = ResourcePackage(
  name: "-",
  files: [
    .init(name: "a", path: "/fonts/a.bin", bytes: [UInt8](repeating: 0x5A, count: 700)),
    .init(name: "b", path: "/b.bin", bytes: [1, 2, 3]),
  ],
  obsoleteFiles: [.init(path: "/old.bin")])

/// The host's side of InfiniTime's file service: files are compared, sent, read back, moved and
/// deleted.
func fuzzResourceUpdate(_ input: [UInt8]) {
  let update = ResourceUpdate(package, observe: examine)
  fuzzDevice("infinitime?erase=0&write=0&files=64K", input) {
    (dialer, clock) async throws(UpdateFault) in
    _ = try await update.run(on: dialer, clock: clock)
  }
}
