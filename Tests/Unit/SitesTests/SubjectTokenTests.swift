#if Sites
import OtaflashSites
import Testing

@Suite struct SubjectTokenTests {
  @Test(arguments: [
    "kitchen", "C0:FF:EE:00:00:01/random", "unix:/run/board.sock", "Küche 2", "a.b", "*", ">", "=",
    "=3A", " ", "\r\n",
  ])
  func aTextSurvivesInAToken(_ text: String) {
    let token = "\(SubjectToken(text))"
    #expect(token.utf8.allSatisfy { $0 > 0x20 && !".*>/\\".utf8.contains($0) })
    #expect(SubjectToken.text(of: token) == text)
    #expect(token != "\(SubjectToken.none)")
  }

  @Test(arguments: ["", "=", "=3", "=3a", "=41", "a.b", "=FF", "a b"])
  func anotherTokenHasNoText(_ token: String) { #expect(SubjectToken.text(of: token) == nil) }
}
#endif
