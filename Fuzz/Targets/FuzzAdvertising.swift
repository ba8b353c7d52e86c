@testable import OtaflashBlueZ

/// Advertisements are untrusted: malformed structures are ignored.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAdvertising(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let advertising = AdvertisingData(decoding: inputBytes(data, size))
  precondition(advertising == advertising)
  precondition(advertising.services.count * 2 <= size)
  return 0
}
