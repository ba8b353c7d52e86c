import Testing

/// Tests of `otaflash settings` on the command line.
@Suite struct SettingsProgramTests {
  /// Each number is at, or just outside, the limit of its type.
  @Test(arguments: [
    ("i8", "127", true), ("i8", "128", false), ("i8", "-128", true), ("i8", "-129", false),
    ("i8", "9223372036854775807", false), ("i32", "-2147483648", true),
    ("i32", "2147483648", false), ("i64", "-9223372036854775808", true), ("u8", "255", true),
    ("u8", "256", false), ("u8", "0xff", true), ("u64", "18446744073709551615", true),
    ("u64", "18446744073709551616", false),
  ])
  func aNumberMustFitItsType(_ type: String, _ number: String, _ fits: Bool) throws {
    let outcome = try Program().run([
      "settings", "set", "app/rate", "--type", type, "-d", "sim:smp", "--", number,
    ])
    // The simulated device refuses numbers of other types than u32 (exit status 5).
    #expect(fits ? [0, 5].contains(outcome.status) : outcome.status == 64, "\(outcome.errors)")
    #expect(outcome.errors.contains("is not a number of the type \(type)") == !fits)
  }
}
