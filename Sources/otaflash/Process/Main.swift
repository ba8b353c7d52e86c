import OtaflashProgram

@main
enum Main {
  static func main() { Program.main(Otaflash.self) }
}
