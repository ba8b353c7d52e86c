/// The statistics group (Zephyr, MCUmgr group 2).
package enum SMPStatistics {
  /// Command 1: returns the names of the groups of counters.
  package struct List: SMPRequest {
    package static let command = SMPCommand(.statistics, 1, .read)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }

    package struct Response: SMPResponse {
      package var names: [String]

      package init(names: [String]) { self.names = names }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        guard let names = try fields.texts("stat_list") else { throw .missing("stat_list") }
        self.names = names
      }

      package var body: CBORMap { CBORMap(["stat_list": .array(names.map(CBORItem.text))]) }
    }
  }

  /// Command 0: returns the counters of a group.
  package struct Show: SMPRequest {
    package static let command = SMPCommand(.statistics, 0, .read)
    package var name: String

    package init(name: String) { self.name = name }

    package init(fields: SMPFields) throws(SMPDecodeFault) { name = try fields.required("name") }

    package var body: CBORMap { CBORMap(["name": .text(name)]) }

    package struct Response: SMPResponse {
      package var name: String
      package var counters: [Counter]

      package init(name: String, counters: [Counter]) {
        self.name = name
        self.counters = counters
      }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        name = try fields.required("name")
        guard let found = try fields.named("fields", of: UInt64.self) else {
          throw .missing("fields")
        }
        counters = found.map { Counter(name: $0.name, value: $0.value) }
      }

      package var body: CBORMap {
        let pairs = counters.map {
          CBORMap.Pair(key: .text($0.name), value: .unsigned($0.value))
        }
        return CBORMap(["name": .text(name), "fields": .map(CBORMap(pairs: pairs))])
      }
    }
  }

  package struct Counter: Equatable, Sendable {
    package var name: String
    package var value: UInt64

    package init(name: String, value: UInt64) {
      self.name = name
      self.value = value
    }
  }
}
