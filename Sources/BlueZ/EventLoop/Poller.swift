import COtaflashBluetooth
import Glibc
import OtaflashATT
import Synchronization

/// The system calls of the event loop: epoll, an eventfd that ends the wait of epoll, and a
/// timerfd. The timerfd is used because it has a resolution of nanoseconds, while the timeout of
/// `epoll_wait` has a resolution of milliseconds.
struct Poller: ~Copyable, Sendable {
  static let firstWatchNumber: UInt64 = 2
  private static let wakeNumber: UInt64 = 0
  private static let timerNumber: UInt64 = 1

  private let epoll: FileDescriptor
  private let wakeUp: FileDescriptor
  private let timer: FileDescriptor
  /// The deadline of the timerfd; only the loop's thread uses it.
  private let armedDeadline = Mutex<LinkInstant?>(nil)

  private init(
    epoll: consuming FileDescriptor, wakeUp: consuming FileDescriptor,
    timer: consuming FileDescriptor
  ) {
    self.epoll = epoll
    self.wakeUp = wakeUp
    self.timer = timer
  }

  /// Opens the three descriptors.
  static func open() throws(SystemError) -> Poller {
    let poller = Poller(
      epoll: try FileDescriptor(result: epoll_create1(Int32(EPOLL_CLOEXEC))),
      wakeUp: try FileDescriptor(result: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))),
      timer: try FileDescriptor(
        result: timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))))
    try poller.control(EPOLL_CTL_ADD, poller.wakeUp.raw, EPOLLIN.rawValue, wakeNumber)
    try poller.control(EPOLL_CTL_ADD, poller.timer.raw, EPOLLIN.rawValue, timerNumber)
    return poller
  }

  func add(_ descriptor: Int32, as watch: Watch) throws(SystemError) {
    try control(EPOLL_CTL_ADD, descriptor, EPOLLONESHOT.rawValue, watch.number)
  }

  /// Requests one event for a descriptor that was added to the loop.
  func arm(_ descriptor: Int32, as watch: Watch, for interest: Readiness) {
    var events = EPOLLONESHOT.rawValue
    if interest.readable { events |= EPOLLIN.rawValue | EPOLLRDHUP.rawValue }
    if interest.writable { events |= EPOLLOUT.rawValue }
    do throws(SystemError) {
      try control(EPOLL_CTL_MOD, descriptor, events, watch.number)
    } catch {
      preconditionFailure("descriptor \(descriptor) is not on the loop: \(error.text)")
    }
  }

  func remove(_ descriptor: Int32) {
    do throws(SystemError) {
      try control(EPOLL_CTL_DEL, descriptor, 0, 0)
    } catch {
      preconditionFailure("descriptor \(descriptor) is not on the loop: \(error.text)")
    }
  }

  /// Ends the wait of `poll`. The counter of the eventfd cannot overflow: `interpret` resets the
  /// counter after each wait.
  func wake() {
    let result = eventfd_write(wakeUp.raw, 1)
    precondition(result == 0 || errno == EAGAIN, "the loop's eventfd is broken")
  }

  /// Waits for events until the deadline, or returns pending events immediately. Returns `nil` if a
  /// signal interrupted the wait or the process was stopped.
  func poll(_ events: inout [epoll_event], until deadline: LinkInstant?, isWaiting: Bool) -> Int? {
    if isWaiting { armTimer(at: deadline) }
    let count = epoll_wait(epoll.raw, &events, Int32(events.count), isWaiting ? -1 : 0)
    guard count >= 0 else {
      precondition(errno == EINTR, "epoll_wait: \(SystemError(errno).text)")
      return nil
    }
    return Int(count)
  }

  /// Decodes an event. An event of the loop's own eventfd or timerfd resets that descriptor, and
  /// the function returns `nil`.
  func interpret(_ event: epoll_event) -> (Watch, Readiness)? {
    let (number, bits) = withUnsafePointer(to: event) {
      (otaflash_epoll_watch($0), otaflash_epoll_events($0))
    }
    switch number {
    case Self.wakeNumber:
      drain(wakeUp)
      return nil
    case Self.timerNumber:
      drain(timer)
      armedDeadline.withLock { $0 = nil }
      return nil
    default:
      let hangUp = EPOLLERR.rawValue | EPOLLHUP.rawValue | EPOLLRDHUP.rawValue
      return (
        Watch(number: number),
        Readiness(
          readable: bits & EPOLLIN.rawValue != 0, writable: bits & EPOLLOUT.rawValue != 0,
          hungUp: bits & hangUp != 0)
      )
    }
  }

  private func armTimer(at deadline: LinkInstant?) {
    let isArmed = armedDeadline.withLock { armed in
      defer { armed = deadline }
      return armed == deadline
    }
    guard !isArmed else { return }
    var setting = itimerspec()
    if let deadline {
      let (seconds, attoseconds) = deadline.elapsed.components
      setting.it_value.tv_sec = Int(seconds)
      // Zero would disarm the timer. Rounding up ensures that the loop never wakes before the
      // deadline.
      setting.it_value.tv_nsec = Int(min(attoseconds / 1_000_000_000 + 1, 999_999_999))
    }
    let result = timerfd_settime(timer.raw, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    precondition(result == 0, "timerfd_settime: \(SystemError(errno).text)")
  }

  private func drain(_ descriptor: borrowing FileDescriptor) {
    var counter: UInt64 = 0
    // EAGAIN means that the counter is already zero, which is sufficient.
    _ = read(descriptor.raw, &counter, MemoryLayout<UInt64>.size)
  }

  private func control(
    _ operation: Int32, _ descriptor: Int32, _ events: UInt32, _ number: UInt64
  ) throws(SystemError) {
    guard otaflash_epoll_control(epoll.raw, operation, descriptor, events, number) == 0 else {
      throw SystemError(errno)
    }
  }
}
