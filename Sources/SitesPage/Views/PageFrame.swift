#if Sites
/// The elements that all pages have.
struct PageFrame: Sendable {
  enum Section: String, Sendable, CaseIterable {
    case overview = "Overview"
    case runs = "Campaigns"
    case devices = "Devices"
    case sites = "Sites"
    case accounts = "Accounts"

    fileprivate var path: HTML {
      switch self {
      case .overview: "/"
      case .runs: "/runs"
      case .devices: "/devices"
      case .sites: "/sites"
      case .accounts: "/accounts"
      }
    }

    fileprivate func isVisible(for role: AccountRole) -> Bool {
      self != .accounts || role >= .admin
    }
  }

  let title: String
  var section: Section?
  /// The user; `nil` if no user has logged in.
  var user: PageUser?
  /// The address of the stream that sends changed parts of the page; `nil` if the page has no live
  /// parts.
  var stream: String?

  func page(_ content: HTML) -> HTML {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(cut: title) · otaflash</title>
    <link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/assets/page.css?\(Assets.version)">
    <script src="/assets/page.js?\(Assets.version)" defer></script>
    </head>
    <body class="site"\(attributes)>
    <a class="skip" href="#content">Skip to the content</a>
    \(Self.patterns)\(header)<main id="content" tabindex="-1">
    \(content)</main>
    </body>
    </html>

    """
  }

  private var attributes: HTML { stream.map { " data-stream=\"\($0)\"" } ?? "" }

  private var header: HTML {
    guard let user else {
      return "<header class=\"top\"><p class=\"brand\">otaflash</p></header>\n"
    }
    let links = Section.allCases.filter { $0.isVisible(for: user.role) }.map { entry -> HTML in
      let current: HTML = entry == section ? " aria-current=\"page\"" : ""
      return "<li><a href=\"\(entry.path)\"\(current)>\(entry.rawValue)</a></li>\n"
    }
    let token = user.session?.formToken ?? ""
    return """
      <header class="top"><p class="brand">otaflash</p>
      <nav aria-label="Main"><ul>
      \(links)</ul></nav>
      <form method="post" action="/logout" class="user">
      <input type="hidden" name="\(FormCheck.fieldName)" value="\(token)">
      <span>\(user.account) <small>\(user.role.rawValue)</small></span>
      <button>Log out</button></form></header>
      <p class="stopped" id="stream-stopped" role="alert" hidden>Live updates have stopped. \
      <a href="">Load the page again.</a></p>

      """
  }

  /// The fill patterns of bars and charts, so that no information depends on color alone.
  private static let patterns: HTML = """
    <svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
    <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse"
     patternTransform="rotate(45)"><rect width="7" height="7" class="failed"/>
    <rect width="2" height="7" class="stripe"/></pattern>
    <pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse">
    <rect width="6" height="6" class="unseen"/><circle cx="3" cy="3" r="1.2" class="stripe"/>
    </pattern></defs></svg>

    """
}

/// A part of a page that the script replaces when its content changes.
enum LivePart {
  static func html(_ id: StaticString, _ content: HTML) -> HTML {
    "<div id=\"\(HTML(stringLiteral: id))\" data-live>\(content)</div>\n"
  }
}
#endif
