#if Sites
import FoundationEssentials
import Hummingbird

/// Reads the bodies and queries of requests, within limits.
enum Bodies {
  /// The maximum size of a form and of a JSON body, in bytes.
  static let formMaximum = 64 << 10

  static func bytes(of request: Request, limit: Int) async throws(PageError) -> [UInt8] {
    if let length = request.headers[.contentLength], let length = Int(length), length > limit {
      throw .tooLarge(limit: limit)
    }
    var bytes: [UInt8] = []
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > 0 {
      bytes.reserveCapacity(length)
    }
    do {
      for try await part in request.body {
        guard bytes.count + part.readableBytes <= limit else {
          throw PageError.tooLarge(limit: limit)
        }
        bytes += part.readableBytesView
      }
    } catch let error as PageError {
      throw error
    } catch {
      throw .badRequest("the request is not complete")
    }
    return bytes
  }

  static func form(of request: Request) async throws(PageError) -> FormValues {
    guard hasType("application/x-www-form-urlencoded", request) else { throw .unsupportedType }
    let bytes = try await bytes(of: request, limit: formMaximum)
    guard let text = String(validating: bytes, as: UTF8.self),
      let values = FormValues(encoded: text)
    else { throw .badRequest("the form is not valid") }
    return values
  }

  static func json<Value: Decodable>(
    _ type: Value.Type, of request: Request
  ) async throws(PageError) -> Value {
    guard hasType("application/json", request) else { throw .unsupportedType }
    let bytes = try await bytes(of: request, limit: formMaximum)
    do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch {
      throw .badRequest("the body is not the expected JSON: \(words(of: error))")
    }
  }

  static func multipart(
    of request: Request, limit: Int
  ) async throws(PageError) -> Multipart {
    guard let type = request.headers[.contentType],
      let boundary = Multipart.boundary(ofType: type)
    else { throw .unsupportedType }
    let bytes = try await bytes(of: request, limit: limit)
    guard let body = Multipart(bytes, boundary: boundary) else {
      throw .badRequest("the body is not multipart/form-data")
    }
    return body
  }

  /// Returns the values of the query.
  ///
  /// - Parameter isStrict: whether empty values are kept, and repeated names are refused.
  static func query(
    of request: Request, isStrict: Bool = false
  ) throws(PageError) -> FormValues {
    guard let query = request.uri.query else { return FormValues() }
    guard let values = FormValues(encoded: query, isStrict: isStrict) else {
      throw .badRequest("the query is not valid")
    }
    return values
  }

  private static func hasType(_ type: String, _ request: Request) -> Bool {
    guard let found = request.headers[.contentType] else { return false }
    let plain = found.split(separator: ";").first ?? ""
    return plain.lowercased().filter { $0 != " " } == type
  }

  private static func words(of error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "'\(key.stringValue)' is missing"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "'\(context.codingPath.map(\.stringValue).joined(separator: "."))' has the wrong type"
    case DecodingError.dataCorrupted(let context):
      context.codingPath.isEmpty
        ? "it cannot be parsed"
        : "'\(context.codingPath.map(\.stringValue).joined(separator: "."))' has no known value"
    default: "it cannot be parsed"
    }
  }
}
#endif
