/// An unknown JSON value that must be preserved.
enum KeptValue: Codable, Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([KeptValue])
  case object([String: KeptValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
      return
    }
    // The type is found by attempts to decode the value as each type; if all fail, the last failure
    // is thrown.
    do { self = .bool(try container.decode(Bool.self)) } catch {
      do { self = .integer(try container.decode(Int64.self)) } catch {
        do { self = .number(try container.decode(Double.self)) } catch {
          do { self = .string(try container.decode(String.self)) } catch {
            do { self = .array(try container.decode([KeptValue].self)) } catch {
              self = .object(try container.decode([String: KeptValue].self))
            }
          }
        }
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}

/// The unknown members of an object that a later version of otaflash wrote; they are written back
/// unchanged.
struct KeptMembers: Equatable, Sendable {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  var members: [String: KeptValue] = [:]

  init() {}

  init(in decoder: any Decoder, besides known: [any CodingKey]) throws {
    let names = Set(known.map(\.stringValue))
    let container = try decoder.container(keyedBy: Name.self)
    for name in container.allKeys where !names.contains(name.stringValue) {
      members[name.stringValue] = try container.decode(KeptValue.self, forKey: name)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    for (name, value) in members { try container.encode(value, forKey: Name(name)) }
  }
}
