import OtaflashConsole
import OtaflashState
import OtaflashUpdate

extension StateStore {
  /// Where updates over an adapter remember which sizes of data writes were the best.
  ///
  /// - Parameter adapter: its name, in campaigns and single updates alike: `hci0` …
  package func sizes(on adapter: String) -> SizeMemory {
    let (file, console) = (SizeFile(in: directory), console)
    return SizeMemory(
      recall: { setting in
        let recalled = console.attempt(
          orNote: "the sizes of data writes were not read", verbosity: 1
        ) { () throws(StateFault) in
          try file.size(for: setting, on: adapter, at: Timestamp.secondsSince1970())
        }
        console.note("list of sizes", setAside: recalled?.setAside)
        return recalled?.content
      },
      keep: { setting, size in
        let setAside = console.attempt(
          orNote: "the size of data writes was not kept", verbosity: 1
        ) { () throws(StateFault) in
          try file.keep(size, for: setting, on: adapter, at: Timestamp.secondsSince1970())
        }
        console.note("list of sizes", setAside: setAside ?? nil)
      })
  }
}
