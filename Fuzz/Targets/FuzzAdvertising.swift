@testable import OtaflashBlueZ

/// Advertisements are untrusted: malformed structures are ignored.
func fuzzAdvertising(_ input: [UInt8]) {
  let advertising = AdvertisingData(decoding: input)
  precondition(advertising == advertising)
  precondition(advertising.services.count * 2 <= input.count)
}
