/// A binary heap, which inserts elements and removes the smallest element in logarithmic time.
package struct BinaryHeap<Element: Comparable & Sendable>: Sendable {
  private var elements: [Element] = []

  package init() {}

  package var first: Element? { elements.first }
  package var count: Int { elements.count }

  package mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  /// Removes the smallest element. The heap must not be empty.
  package mutating func removeFirst() {
    elements.swapAt(0, elements.count - 1)
    elements.removeLast()
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < elements.count && elements[child] < elements[smallest] {
        smallest = child
      }
      guard smallest != parent else { return }
      elements.swapAt(parent, smallest)
      parent = smallest
    }
  }
}
