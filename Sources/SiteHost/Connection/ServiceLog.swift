#if Sites
import Logging
import OtaflashDevices

/// The log of a service on standard error; metadata is written as `key=value`.
package enum ServiceLog {
  /// Returns a logger. With `-v` the logger also writes debug messages, with `-q` it writes only
  /// errors.
  package static func logger(_ label: String, _ global: GlobalOptions) -> Logger {
    var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = global.quiet ? .error : global.verbose > 0 ? .debug : .info
    return logger
  }
}
#endif
