import Glibc

/// A `sink-device` in a separate process, listening on a socket in the temporary directory.
final class DeviceProcess: Sendable {
  struct CannotStart: Error { let errno: Int32 }

  private static let startLimitMilliseconds = 5000

  let path: String
  private let process: pid_t

  init(_ program: String, name: String, bytesPerSecond: Int? = nil) throws {
    path = "/tmp/otaflash-goals-\(getpid())-\(name).sock"
    let words = [program, path] + (bytesPerSecond.map { [String($0)] } ?? [])
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    // The threads of a task pool block every signal. A child that inherited this mask could not be
    // stopped.
    var attributes = posix_spawnattr_t()
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var child = pid_t()
    let result = posix_spawn(&child, program, nil, &attributes, &arguments, environ)
    guard result == 0 else { throw CannotStart(errno: result) }
    process = child
    for _ in 0..<Self.startLimitMilliseconds where access(path, F_OK) != 0 { usleep(1000) }
  }

  func stop() {
    kill(process, SIGTERM)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    unlink(path)
  }
}

/// The resources that this process has used so far.
struct ProcessCost {
  let processorSeconds: Double
  let wallSeconds: Double

  static var now: ProcessCost {
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return ProcessCost(
      processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
      wallSeconds: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
  }

  static func - (now: ProcessCost, before: ProcessCost) -> ProcessCost {
    ProcessCost(
      processorSeconds: now.processorSeconds - before.processorSeconds,
      wallSeconds: now.wallSeconds - before.wallSeconds)
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1e6
  }

  /// The current resident memory in MB; 0 if the system does not report it.
  static var residentMegabytes: Double {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    let fields = text.split(separator: " ")
    guard fields.count > 1, let pages = Double(fields[1]) else { return 0 }
    return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1e6
  }

  /// The peak resident memory in MB.
  static var mostResidentMegabytes: Double {
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_maxrss) * 1024 / 1e6
  }
}
