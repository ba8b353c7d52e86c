/// The file that a server keeps open between requests (Zephyr, `fs_mgmt.c`: `fs_mgmt_ctxt`).
struct SMPOpenFile: Sendable {
  let path: String
  let isUpload: Bool
  /// The offset that the server expects in the next request. A request at offset 0 does not reset
  /// it.
  var offset = 0
  /// The announced length of an upload, or the length of a file that is read, in bytes; 0 =
  /// unknown.
  var length = 0
  /// The content so far, without `tail`.
  private(set) var stored: FlashDataStore.File
  /// The bytes after the last complete page.
  private var tail: [UInt8] = []

  /// Opens a file for reading.
  init(reading path: String, _ file: FlashDataStore.File) {
    (self.path, isUpload, stored, length) = (path, false, file, file.size)
  }

  /// Opens a file for writing at its end. The last page is written again to another page if it is
  /// not full, because flash is written only once.
  init(
    writing path: String, _ file: FlashDataStore.File, in store: FlashDataStore
  ) throws(FlashFault) {
    (self.path, isUpload) = (path, true)
    let full = file.size / store.pageSize
    stored = FlashDataStore.File(
      size: full * store.pageSize, pages: Array(file.pages.prefix(full)))
    tail = try store.read(file, from: stored.size, atMost: store.pageSize)
  }

  /// Discards the content. The offset stays.
  mutating func truncate() {
    stored = FlashDataStore.File()
    tail = []
  }

  /// Appends data, and returns the operations for the pages that are complete.
  mutating func append(
    _ data: [UInt8], in store: FlashDataStore
  ) throws(FlashDataStore.Full) -> [FlashOperation] {
    tail += data
    var operations: [FlashOperation] = []
    while tail.count >= store.pageSize {
      operations += try writePage(Array(tail.prefix(store.pageSize)), in: store)
      tail.removeFirst(store.pageSize)
    }
    return operations
  }

  /// Returns the complete content, and the operations for its last page.
  mutating func finish(
    in store: FlashDataStore
  ) throws(FlashDataStore.Full) -> (FlashDataStore.File, [FlashOperation]) {
    guard !tail.isEmpty else { return (stored, []) }
    let operations = try writePage(tail, in: store)
    tail = []
    return (stored, operations)
  }

  private mutating func writePage(
    _ content: [UInt8], in store: FlashDataStore
  ) throws(FlashDataStore.Full) -> [FlashOperation] {
    let (page, operations) = try store.writing(content, besides: stored.pages)
    stored.pages.append(page)
    stored.size += content.count
    return operations
  }
}
