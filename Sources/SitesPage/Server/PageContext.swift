#if Sites
import FoundationEssentials
import Hummingbird

/// The user of a request.
struct PageUser: Sendable {
  let account: String
  let role: AccountRole
  /// The session of a browser; `nil` = the request has a token.
  let session: Session?
}

/// The values of one request.
package struct PageContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  /// The IP address of the client; `nil` = unknown.
  let address: String?
  /// The user; `nil` = not authenticated.
  var identity: PageUser?

  package init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    address = source.channel.remoteAddress?.ipAddress
  }

  /// Returns the address of the client, which a proxy on this machine states.
  func client(of request: Request, in configuration: PageConfiguration) -> String {
    guard configuration.isBehindProxy,
      let field = request.headers.last(where: { $0.name.canonicalName == "x-forwarded-for" }),
      let last = field.value.split(separator: ",").last
    else { return address ?? "" }
    return last.filter { $0 != " " }
  }

  /// Returns a part of the path, decoded.
  func part(_ name: String) throws(PageError) -> String {
    guard let raw = parameters.get(name), let text = Address.decoded(raw) else {
      throw .badRequest("the address is not valid")
    }
    return text
  }

  /// Returns the user.
  func user() throws(PageError) -> PageUser {
    guard let identity else { throw .unauthenticated }
    return identity
  }

  /// Checks that the user has a role.
  @discardableResult
  func require(_ role: AccountRole) throws(PageError) -> PageUser {
    let identity = try user()
    guard identity.role >= role else { throw .forbidden(needs: role) }
    return identity
  }
}
#endif
