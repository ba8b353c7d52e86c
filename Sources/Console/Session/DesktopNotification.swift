import Glibc

/// Notifies the user of the end of a run.
package struct DesktopNotification: Equatable, Sendable {
  /// The way to notify the user.
  package enum Way: Equatable, Sendable {
    /// notify-send(1), on a desktop of this host.
    case desktop
    /// OSC 777 of urxvt, also supported by VTE's terminals, foot and Ghostty.
    case notifyCommand
    /// OSC 9 of iTerm2, also supported by WezTerm and kitty.
    case growlCommand
    case bell
    /// No notification: there is no terminal, or only a terminal of type `dumb`.
    case none

    package init(environment: [String: String], hasTerminal: Bool) {
      func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
      let (program, term) = (environment["TERM_PROGRAM"] ?? "", environment["TERM"] ?? "")
      let isHere = !isSet("SSH_CONNECTION") && !isSet("SSH_TTY")
      if isHere, isSet("DBUS_SESSION_BUS_ADDRESS"), isSet("WAYLAND_DISPLAY") || isSet("DISPLAY") {
        self = .desktop
      } else if !hasTerminal || term == "dumb" {
        self = .none
      } else if isSet("TMUX") || term.hasPrefix("screen") || term.hasPrefix("tmux") {
        // Other terminals discard or print unknown sequences.
        self = .bell
      } else if isSet("VTE_VERSION") || ["rxvt", "foot"].contains(where: term.hasPrefix)
        || program == "ghostty"
      {
        self = .notifyCommand
      } else if ["iTerm.app", "WezTerm"].contains(program) || term == "xterm-kitty" {
        self = .growlCommand
      } else {
        self = .bell
      }
    }

    /// Returns the text for the terminal; `nil` if the terminal is not used.
    package func bytes(for notification: DesktopNotification) -> String? {
      let (title, body) = (Self.plain(notification.title), Self.plain(notification.body))
      return switch self {
      case .desktop, .none: nil
      case .bell: "\u{07}"
      case .notifyCommand: "\u{1B}]777;notify;\(title);\(body)\u{1B}\\\u{07}"
      case .growlCommand: "\u{1B}]9;\(title): \(body)\u{1B}\\\u{07}"
      }
    }

    /// Returns the text with semicolons replaced, because semicolons separate the fields of the
    /// escape sequences.
    private static func plain(_ text: String) -> String {
      VisibleText.escaped(text).replacing(";", with: ",")
    }
  }

  private static let patience = (attempts: 40, interval: useconds_t(50_000))

  package let title: String
  package let body: String

  package init(title: String, body: String) {
    self.title = title
    self.body = body
  }

  /// Sends the notification if possible; failures are ignored.
  package func send(environment: [String: String]) {
    let output = FileOutput.standardError
    let way = Way(environment: environment, hasTerminal: output.isTerminal)
    if way == .desktop, notify(environment) { return }
    let other = way == .desktop && output.isTerminal ? .bell : way
    if let bytes = other.bytes(for: self) { _ = output.write(bytes) }
  }

  /// Runs notify-send; returns `false` if it is not installed, fails, or does not end in time.
  private func notify(_ environment: [String: String]) -> Bool {
    // The body is markup, so its special characters are escaped.
    let body = VisibleText.escaped(body).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    let words = ["notify-send", "--app-name=otaflash", "--", VisibleText.escaped(title), body]
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The program must receive signals that this process blocks and ignores.
    var none = sigset_t()
    sigemptyset(&none)
    var usual = none
    for number in [SIGPIPE, SIGXFSZ] { sigaddset(&usual, number) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &usual)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&files, number, "/dev/null", O_RDWR, 0)
    }
    var arguments = words.map { strdup($0) } + [nil]
    var surroundings = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in arguments + surroundings { free(text) } }
    var child = pid_t()
    guard posix_spawnp(&child, words[0], &files, &attributes, &arguments, &surroundings) == 0
    else { return false }
    for _ in 0..<Self.patience.attempts {
      var status: Int32 = 0
      if waitpid(child, &status, WNOHANG) == child { return status == 0 }
      usleep(Self.patience.interval)
    }
    return false
  }
}
