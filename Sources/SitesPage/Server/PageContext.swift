#if Sites
import FoundationEssentials
import Hummingbird

/// The user of a request.
struct PageUser: Sendable {
  let account: String
  let role: AccountRole
  /// The session of a browser; `nil` for the API and for metrics.
  let session: Session?
}

/// The context of one request.
package struct PageContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  /// The IP address of the client; `nil` if the address is unknown.
  let address: String?
  /// The user; `nil` if the request is not authenticated.
  var identity: PageUser?

  package init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    address = source.channel.remoteAddress?.ipAddress
  }

  /// Returns the address of the client. Behind a proxy on this computer, the proxy states this
  /// address.
  func client(of request: Request, in configuration: PageConfiguration) -> String {
    guard configuration.isBehindProxy,
      let field = request.headers.last(where: { $0.name.canonicalName == "x-forwarded-for" }),
      let last = field.value.split(separator: ",").last
    else { return address ?? "" }
    return last.filter { $0 != " " }
  }

  /// Returns a parameter of the path, decoded. Throws `badRequest` if the encoding is not valid.
  func part(_ name: String) throws(PageError) -> String {
    guard let raw = parameters.get(name), let text = Address.decoded(raw) else {
      throw .badRequest("the address is not valid")
    }
    return text
  }

  /// Returns the user. Throws `unauthenticated` if there is no user.
  func user() throws(PageError) -> PageUser {
    guard let identity else { throw .unauthenticated }
    return identity
  }

  /// Returns the user. Throws if the user does not have the role.
  @discardableResult
  func require(_ role: AccountRole) throws(PageError) -> PageUser {
    let identity = try user()
    guard identity.role >= role else { throw .forbidden(needs: role) }
    return identity
  }
}
#endif
