import OtaflashGATT
import Testing

@testable import OtaflashUpdate

@Suite struct LocationSearchTests {
  private struct Look: Equatable {
    let goesOn: Bool
    let place: DeviceLocation
  }

  private func looks(_ search: inout LocationSearch, _ count: Int) -> [Look] {
    (0..<count).map { _ in
      let goesOn = search.moveOn()
      return Look(goesOn: goesOn, place: search.place)
    }
  }

  @Test func eachLocationWithoutAnAnswerIsSearchedInTurn() {
    var search = LocationSearch([.home, .nextAddress])
    #expect(search.place == .home)
    #expect(
      looks(&search, 3) == [
        Look(goesOn: true, place: .nextAddress), Look(goesOn: false, place: .home),
        Look(goesOn: true, place: .nextAddress),
      ])
  }

  @Test func aSingleLocationNeedsNoSearch() {
    var search = LocationSearch([.home])
    #expect(looks(&search, 1) == [Look(goesOn: false, place: .home)])
  }

  @Test func aFoundDeviceIsSearchedForAtAllLocationsAgain() {
    var search = LocationSearch([.home, .nextAddress])
    #expect(looks(&search, 1) == [Look(goesOn: true, place: .nextAddress)])
    search.found()
    #expect(
      looks(&search, 2) == [
        Look(goesOn: true, place: .home), Look(goesOn: false, place: .nextAddress),
      ])
  }

  /// After an application was found at its home address, the search uses only this address. After a
  /// loader was found, the search uses both addresses.
  @Test func aFoundApplicationIsNotSearchedForAtALoadersAddress() {
    var search = LocationSearch([.home, .flippedAddress], settlesAtHome: true)
    search.found()
    #expect(looks(&search, 2) == Array(repeating: Look(goesOn: false, place: .home), count: 2))
    var loader = LocationSearch([.home, .flippedAddress], settlesAtHome: true)
    #expect(looks(&loader, 1) == [Look(goesOn: true, place: .flippedAddress)])
    loader.found()
    #expect(looks(&loader, 1) == [Look(goesOn: true, place: .home)])
    var restarted = LocationSearch([.flippedAddress, .home])
    restarted.found()
    #expect(looks(&restarted, 1) == [Look(goesOn: true, place: .home)])
  }
}
