import OtaflashGATT
import Testing

@testable import OtaflashUpdate

@Suite struct PlaceSearchTests {
  private struct Look: Equatable {
    let goesOn: Bool
    let place: DeviceLocation
  }

  private func looks(_ search: inout PlaceSearch, _ count: Int) -> [Look] {
    (0..<count).map { _ in
      let goesOn = search.moveOn()
      return Look(goesOn: goesOn, place: search.place)
    }
  }

  @Test func oneTurnWhereNobodyAnswers() {
    var search = PlaceSearch([.home, .nextAddress])
    #expect(search.place == .home)
    #expect(
      looks(&search, 3) == [
        Look(goesOn: true, place: .nextAddress), Look(goesOn: false, place: .home),
        Look(goesOn: true, place: .nextAddress),
      ])
  }

  @Test func onlyOnePlaceIsNoSearch() {
    var search = PlaceSearch([.home])
    #expect(looks(&search, 1) == [Look(goesOn: false, place: .home)])
  }

  @Test func aFoundDeviceIsLookedForEverywhereAgain() {
    var search = PlaceSearch([.home, .nextAddress])
    #expect(looks(&search, 1) == [Look(goesOn: true, place: .nextAddress)])
    search.found()
    #expect(
      looks(&search, 2) == [
        Look(goesOn: true, place: .home), Look(goesOn: false, place: .nextAddress),
      ])
  }
}
