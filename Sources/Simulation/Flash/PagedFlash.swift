import Synchronization

/// The flash of a board in a large fleet: erased pages need no memory, and equal pages in a pool
/// are stored only once for all boards.
final class PagedFlash: FlashMedium {
  private static let pageSize = 4096
  private static let erased: UInt8 = 0xFF

  let size: Int
  /// The pages, each without trailing erased bytes.
  private let pages: Mutex<[[UInt8]]>

  /// Creates an erased flash of `size` bytes.
  init(size: Int) {
    self.size = size
    pages = Mutex(Array(repeating: [], count: (size + Self.pageSize - 1) / Self.pageSize))
  }

  func read(_ range: Range<Int>) -> [UInt8] {
    pages.withLock { pages in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(range.count)
      var address = range.lowerBound
      while address < range.upperBound {
        let (page, start) = (pages[address / Self.pageSize], address % Self.pageSize)
        let count = min(Self.pageSize - start, range.upperBound - address)
        let written = page.dropFirst(start).prefix(count)
        bytes += written
        bytes += repeatElement(Self.erased, count: count - written.count)
        address += count
      }
      return bytes
    }
  }

  func write(_ new: [UInt8], at address: Int) {
    pages.withLock { pages in
      var (address, rest) = (address, new[...])
      while !rest.isEmpty {
        let start = address % Self.pageSize
        let part = rest.prefix(Self.pageSize - start)
        Self.replace(&pages[address / Self.pageSize], from: start, with: part)
        rest = rest.dropFirst(part.count)
        address += part.count
      }
    }
  }

  private static func replace(_ page: inout [UInt8], from start: Int, with new: ArraySlice<UInt8>) {
    let end = start + new.count
    if page.count <= end {
      page.removeLast(max(page.count - start, 0))
      guard let last = new.lastIndex(where: { $0 != erased }) else { return trim(&page) }
      page += repeatElement(erased, count: start - page.count)
      page += new[...last]
    } else {
      page.replaceSubrange(start..<end, with: new)
    }
  }

  private static func trim(_ page: inout [UInt8]) {
    while page.last == erased { page.removeLast() }
  }

  /// Replaces each page with the shared copy in the pool.
  func share(through pool: PagePool) {
    pages.withLock { pages in
      for index in pages.indices where !pages[index].isEmpty {
        pages[index] = pool.kept(pages[index])
      }
    }
  }
}

/// A store of pages that keeps one copy of equal pages, without unused capacity.
final class PagePool: Sendable {
  /// A page that is hashed in one call, because the hash of an array processes each element
  /// separately and takes ten times as long.
  private struct Page: Hashable {
    let bytes: [UInt8]

    func hash(into hasher: inout Hasher) {
      bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }

  private let pages = Mutex<Set<Page>>([])

  func kept(_ page: [UInt8]) -> [UInt8] {
    pages.withLock { pages in
      if let index = pages.firstIndex(of: Page(bytes: page)) { return pages[index].bytes }
      let exact = page.withUnsafeBufferPointer(Array.init)
      pages.insert(Page(bytes: exact))
      return exact
    }
  }
}
