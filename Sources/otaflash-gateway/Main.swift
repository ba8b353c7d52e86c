#if Sites
import OtaflashProgram

@main
enum Main {
  /// Runs the program. The commands in remedies are commands of `otaflash`.
  static func main() { Program.main(Gateway.self, commands: "otaflash") }
}
#else
import Glibc

@main
enum Main {
  /// SwiftPM builds all executables, but this program needs the trait.
  static func main() {
    fputs("otaflash-gateway: this program was built without the trait Sites\n", stderr)
    exit(EX_UNAVAILABLE)
  }
}
#endif
