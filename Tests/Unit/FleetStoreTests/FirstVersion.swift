#if Fleet
@testable import OtaflashFleetStore

/// The exact content that the first version of the store wrote and that later versions must read.
enum FirstVersion {
  static let schema = """
    CREATE TABLE run (
      id TEXT PRIMARY KEY, campaign TEXT NOT NULL, digest TEXT NOT NULL, began INTEGER NOT NULL,
      news_seen INTEGER NOT NULL, length INTEGER NOT NULL, head BLOB NOT NULL
    ) STRICT;

    CREATE TABLE event (
      run TEXT NOT NULL REFERENCES run (id), number INTEGER NOT NULL, at INTEGER NOT NULL,
      payload TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER event_stays BEFORE UPDATE ON event
      BEGIN SELECT RAISE(ABORT, 'events are only added'); END;
    CREATE TRIGGER event_remains BEFORE DELETE ON event
      BEGIN SELECT RAISE(ABORT, 'events are only added'); END;

    CREATE TABLE job (
      run TEXT NOT NULL, device TEXT NOT NULL, attempt INTEGER NOT NULL,
      position INTEGER NOT NULL, site TEXT, image TEXT NOT NULL, look INTEGER NOT NULL,
      state TEXT NOT NULL, epoch INTEGER NOT NULL, PRIMARY KEY (run, device, attempt)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE news (
      number INTEGER PRIMARY KEY, run TEXT NOT NULL, device TEXT NOT NULL,
      attempt INTEGER NOT NULL, fact TEXT NOT NULL
    ) STRICT;

    CREATE TABLE request (
      number INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES run (id), at INTEGER NOT NULL,
      wish TEXT NOT NULL, answer TEXT
    ) STRICT;

    CREATE TABLE blob (digest TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT, WITHOUT ROWID;

    PRAGMA application_id = 1330921798;
    PRAGMA user_version = 1;
    """

  /// Writes a run as the first version did, with its first `count` events.
  ///
  /// - Returns: the hash of the last event.
  static func write(to folder: StoreFolder, count: Int = payloads.count) throws -> [UInt8] {
    try folder.sql(schema)
    var hash = EventChain.start(of: "r1")
    for (index, payload) in payloads.prefix(count).enumerated() {
      let at = Int64(index) * 1000 + Sample.now.milliseconds
      hash = EventChain.link(after: hash, number: index + 1, at: at, payload: payload)
      let hexadecimal = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      if index == 0 {
        try folder.sql("INSERT INTO run VALUES ('r1', 'doors', 'd', \(at), 0, 0, x'00')")
      }
      try folder.sql(
        "INSERT INTO event VALUES ('r1', \(index + 1), \(at), '\(payload)', x'\(hexadecimal)')")
      try folder.sql("UPDATE run SET length = \(index + 1), head = x'\(hexadecimal)'")
    }
    return hash
  }

  /// The events of a run, one event per line.
  static let payloads = text.split(separator: "\n").map(String.init)

  private static let text = #"""
    {"runBegan":{"_0":{"campaign":"doors","devices":2,"digest":"d","id":"r1","waves":1}}}
    {"wavePlanned":{"devices":[{"board":"door","id":"a","image":"i","name":"front","site":"berlin"},{"id":"b","image":"i"}],"name":"all","wave":0}}
    {"waveBegan":{"wave":0}}
    {"devicePublished":{"attempt":1,"device":"a","look":false}}
    {"deviceClaimed":{"attempt":1,"device":"a","worker":"local"}}
    {"devicePlaced":{"adapter":"hci0","attempt":1,"device":"a"}}
    {"deviceActivating":{"attempt":1,"device":"a"}}
    {"attemptEnded":{"attempt":1,"device":"a","ending":{"updated":{"_0":{"from":"1.2.0","octets":1,"proof":"read-back","resumes":0,"to":"1.3.0","uploadMilliseconds":1}}}}}
    {"deviceSettled":{"device":"a","ending":{"updated":{}}}}
    {"devicePublished":{"attempt":1,"device":"b","look":false}}
    {"deviceClaimed":{"attempt":1,"device":"b","worker":"local"}}
    {"claimExpired":{"attempt":1,"device":"b"}}
    {"deviceClaimed":{"attempt":1,"device":"b","worker":"other"}}
    {"attemptEnded":{"attempt":1,"device":"b","ending":{"returned":{"_0":"adapter-lost"}}}}
    {"deviceDeferred":{"device":"b","until":5}}
    {"devicePublished":{"attempt":2,"device":"b","look":true}}
    {"runPaused":{"because":{"infrastructure":{"failures":20,"words":"w"}}}}
    {"runResumed":{}}
    {"deviceClaimed":{"attempt":2,"device":"b","worker":"other"}}
    {"attemptEnded":{"attempt":2,"device":"b","ending":{"failed":{"_0":{"code":"reverted","isFinal":false,"kind":"device","wasSeen":true,"words":"it was taken back"}}}}}
    {"deviceSettled":{"device":"b","ending":{"quarantined":{"_0":{"code":"reverted","isFinal":false,"kind":"device","wasSeen":true,"words":"it was taken back"}}}}}
    {"waveSoaking":{"until":7,"wave":0}}
    {"waveJudged":{"verdict":{"stop":{"failures":1,"of":2}},"wave":0}}
    {"runEnded":{"_0":{"complete":{"failed":1}}}}
    """#
}
#endif
