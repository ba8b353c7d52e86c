import OtaflashDevices

@testable import OtaflashProgram
@testable import otaflash

extension CommandLineReading {
  init(_ arguments: [String], environment: [String: String]) {
    self.init(arguments, environment: environment, root: Otaflash.self)
  }
}

extension FaultContext {
  init(program: String, arguments: [String], subject: Subject = Subject()) {
    self.init(program: program, arguments: arguments, subject: subject, root: Otaflash.self)
  }
}
