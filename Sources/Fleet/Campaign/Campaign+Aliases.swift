extension Campaign {
  /// Replaces the user's aliases with the ids of devices: in the device list, in waves, and in id
  /// comparisons of `select`. The alias becomes the name of its device if the list states no name.
  /// In waves and `select`, the id or name of a listed device is not an alias.
  ///
  /// - Parameter device: returns the id of an alias; `nil` = the name is not an alias.
  /// - Returns: the aliases that were replaced, with their ids.
  package mutating func resolveAliases(
    by device: (String) -> FleetDevice.ID?
  ) -> [String: FleetDevice.ID] {
    var used: [String: FleetDevice.ID] = [:]
    for index in devices.indices {
      let alias = devices[index].id
      guard let id = device(alias) else { continue }
      used[alias] = id
      devices[index] = devices[index].identified(by: id)
      devices[index].name = devices[index].name ?? alias
    }
    let listed = Set(devices.map(\.id)).union(devices.compactMap(\.name))
    func resolved(_ alias: String) -> String {
      guard !listed.contains(alias), let id = device(alias) else { return alias }
      used[alias] = id
      return id
    }
    for index in waves.indices {
      guard case .named(let members) = waves[index].members else { continue }
      waves[index].members = .named(members.map(resolved))
    }
    selector = selector?.mappingIDs(resolved)
    name(used)
    return used
  }

  private mutating func name(_ aliases: [String: FleetDevice.ID]) {
    guard !aliases.isEmpty else { return }
    let names = Dictionary(
      aliases.map { (FleetDevice.identity(of: $1), $0) }, uniquingKeysWith: min)
    for index in devices.indices where devices[index].name == nil {
      devices[index].name = names[devices[index].identity]
    }
  }
}
