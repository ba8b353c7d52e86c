#if Sites
import Logging
import OtaflashDevices

/// The log of a service on standard error, with its metadata as `key=value`.
package enum ServiceLog {
  /// Returns a logger: `-v` adds debug messages, `-q` leaves only errors.
  package static func logger(_ label: String, _ global: GlobalOptions) -> Logger {
    var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = global.quiet ? .error : global.verbose > 0 ? .debug : .info
    return logger
  }
}
#endif
