import Glibc

/// The time since the machine was started, including the time in which it was suspended.
package enum BootTime {
  package static var elapsed: Duration {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
