#if Sites
import HTTPTypes
import Hummingbird
import OtaflashConsole

extension Response {
  static func html(_ page: HTML, status: HTTPResponse.Status = .ok) -> Response {
    text(page.text, type: "text/html; charset=utf-8", status: status)
  }

  static func json(
    _ members: [JSONValue.Member], status: HTTPResponse.Status = .ok
  ) -> Response {
    text(JSONValue.object(members).text, type: "application/json", status: status)
  }

  static func text(
    _ text: String, type: String, status: HTTPResponse.Status = .ok
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  /// Returns a response that sends the browser to another page after a form.
  static func redirect(to path: String) -> Response {
    Response(status: .seeOther, headers: [.location: path])
  }

  mutating func setCookie(_ value: String) {
    headers.append(HTTPField(name: .setCookie, value: value))
  }
}

extension PageError {
  var json: Response {
    var members = JSONValue.fields([
      "error": .string(code), "words": .string(words),
    ])
    if !details.isEmpty {
      members += JSONValue.fields(["details": .array(details.map { .string($0) })])
    }
    return Response.json(members, status: status).adding(headers)
  }

  func page(for user: PageUser?) -> Response {
    Response.html(ErrorView.page(self, for: user), status: status).adding(headers)
  }
}

extension Response {
  fileprivate func adding(_ fields: HTTPFields) -> Response {
    var response = self
    response.headers.append(contentsOf: fields)
    return response
  }
}
#endif
