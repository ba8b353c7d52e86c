import OtaflashSimulation

/// Two releases of one firmware as a linker lays them out for a Cortex-M, for tests and benchmarks
/// that need a pair of images and have no compiler: functions of Thumb code, each followed by its
/// literals, and then texts and tables of pointers.
///
/// The type reproduces the reason for the size of patches of real releases: a function that grows
/// moves all code after it, so the offset of each BL across the function changes, as does each
/// pointer to code after the function. The share of functions and constants that change determines
/// the size of a patch. The type has no side effects: the same arguments yield the same bytes.
package struct RelinkedFirmware {
  package let old: [UInt8]
  package let new: [UInt8]

  /// - Parameters:
  ///   - size: the approximate size of the old image in bytes; the new image may be longer.
  ///   - share: the share of functions and constants that differ; with 0, only the version text
  ///   differs.
  package init(size: Int, changing share: Double, seed: UInt64 = 1) {
    var random = SeededRandom(seed: seed)
    var program = Program(bytes: size, random: &random)
    old = program.linked()
    program.change(share, random: &random)
    new = program.linked()
  }
}

/// The program to link: functions and constants in order.
private struct Program {
  /// The load address of the image (a slot of an nRF52840 with MCUboot).
  private static let address: UInt32 = 0xC200
  private static let vectorBytes = 0x200
  /// The number of common sequences of one to four instructions, as compilers emit them.
  private static let idiomCount = 400
  /// The number of changed functions or constants for each added function or constant.
  private static let changesPerAddition: UInt64 = 8

  private let idioms: [[UInt16]]
  private var functions: [Function] = []
  private var constants: [Constant] = []
  /// The next name of a function, to which calls and pointers refer.
  private var nextName = 0
  private var version: UInt8 = 0

  init(bytes: Int, random: inout SeededRandom) {
    idioms = (0..<Self.idiomCount).map { _ in
      (0...random.next() % 4).map { _ in Self.halfword(&random) }
    }
    // Seven eighths of the image are code.
    var rest = bytes / 8 * 7 - Self.vectorBytes
    while rest > 0 {
      functions.append(function(&random))
      rest -= functions[functions.count - 1].bytes
    }
    rest = bytes / 8
    while rest > 0 {
      constants.append(constant(&random))
      rest -= constants[constants.count - 1].bytes
    }
  }

  /// A two-byte instruction, excluding the prefixes of four-byte instructions.
  private static func halfword(_ random: inout SeededRandom) -> UInt16 {
    UInt16(truncatingIfNeeded: random.next()) & 0xDFFF
  }

  /// 10 to 40 idioms, calls and other instructions, followed by up to four literals.
  private mutating func function(_ random: inout SeededRandom) -> Function {
    defer { nextName += 1 }
    let code = (0..<10 + random.next() % 31).flatMap { _ in instructions(&random) }
    let literals = (0..<random.next() % 5).map { _ in
      random.next() % 3 == 0
        ? Word.number(UInt32(truncatingIfNeeded: random.next() % 4096)) : pointer(&random)
    }
    return Function(name: nextName, code: code, literals: literals)
  }

  private func pointer(_ random: inout SeededRandom) -> Word {
    .address(of: Int(random.next() % UInt64(nextName + 1)))
  }

  /// A text or a table of a driver.
  private func constant(_ random: inout SeededRandom) -> Constant {
    if random.next() % 3 > 0 {
      return .text(
        (0..<2 + random.next() % 8).flatMap { _ in
          (0..<4).map { _ in UInt8(truncatingIfNeeded: 0x61 + random.next() % 20) }
        })
    }
    return .structure(
      (0..<3 + random.next() % 5).map { _ in
        random.next() % 2 == 0 ? pointer(&random) : .number(UInt32(random.next() % 64))
      })
  }

  private func instructions(_ random: inout SeededRandom) -> [Function.Instruction] {
    switch random.next() % 16 {
    case 0, 1: [.call(Int(random.next() % UInt64(nextName + 1)))]
    case 2, 3: [.plain(Self.halfword(&random))]
    // Some of the sequences are far more frequent than others.
    default:
      idioms[Int(random.next() % (1 + random.next() % UInt64(Self.idiomCount)))].map { .plain($0) }
    }
  }

  /// Creates the next release: some code gets longer or shorter, a few functions and constants are
  /// added, and the version changes.
  mutating func change(_ share: Double, random: inout SeededRandom) {
    version += 1
    var release: [Function] = []
    for var function in functions {
      if random.happens(withProbability: share) {
        let place = Int(random.next() % UInt64(function.code.count))
        let count = min(Int(random.next() % 24), function.code.count - place)
        let fresh = (0..<random.next() % 14).flatMap { _ in instructions(&random) }
        function.code.replaceSubrange(place..<place + count, with: fresh)
        if random.next() % Self.changesPerAddition == 0 { release.append(self.function(&random)) }
      }
      release.append(function)
    }
    functions = release
    constants = constants.flatMap { constant -> [Constant] in
      guard random.happens(withProbability: share) else { return [constant] }
      let isAddition = random.next() % Self.changesPerAddition == 0
      return isAddition ? [constant, self.constant(&random)] : [self.constant(&random)]
    }
  }

  // MARK: Linking

  func linked() -> [UInt8] {
    var places: [Int: Int] = [:]
    var end = Self.vectorBytes
    for function in functions {
      places[function.name] = end
      end += function.bytes
    }
    func value(_ word: Word) -> UInt32 {
      switch word {
      case .number(let number): number
      // Bit 0 marks Thumb code.
      case .address(let callee): Self.address + UInt32(places[callee] ?? 0) + 1
      }
    }
    var image: [UInt8] = []
    // The stack pointer, the reset vector, and the handlers. Every vector points to a function.
    for number in 0..<Self.vectorBytes / 4 {
      image.append(word: number == 0 ? 0x2004_0000 : value(.address(of: number)))
    }
    for function in functions { function.append(to: &image, places, value) }
    image += Array("*** firmware 4.0.\(version) built by \(version &* 77)".utf8)
    while !image.count.isMultiple(of: 4) { image.append(0) }
    for constant in constants { constant.append(to: &image, value) }
    return image
  }
}

/// Four bytes, which the linker may have to fill in.
private enum Word {
  case number(UInt32)
  case address(of: Int)
}

private enum Constant {
  case text([UInt8])
  case structure([Word])

  var bytes: Int {
    switch self {
    case .text(let text): text.count
    case .structure(let words): 4 * words.count
    }
  }

  func append(to image: inout [UInt8], _ value: (Word) -> UInt32) {
    switch self {
    case .text(let text): image += text
    case .structure(let words): for word in words { image.append(word: value(word)) }
    }
  }
}

private struct Function {
  enum Instruction {
    case plain(UInt16)
    /// A BL instruction to another function.
    case call(Int)

    var bytes: Int {
      switch self {
      case .plain: 2
      case .call: 4
      }
    }
  }

  let name: Int
  var code: [Instruction]
  let literals: [Word]

  private var codeBytes: Int { code.reduce(0) { $0 + $1.bytes } }
  /// Literals and the next function are aligned to words.
  var bytes: Int { (codeBytes + 3) / 4 * 4 + 4 * literals.count }

  func append(to image: inout [UInt8], _ places: [Int: Int], _ value: (Word) -> UInt32) {
    for instruction in code {
      switch instruction {
      case .plain(let halfword): image.append(halfword: halfword)
      case .call(let callee):
        // The offset is relative to the address four bytes after the instruction.
        let offset = (places[callee] ?? 0) - (image.count + 4)
        for halfword in Self.branchWithLink(offset) { image.append(halfword: halfword) }
      }
    }
    if !image.count.isMultiple(of: 4) { image.append(halfword: 0xBF00) }
    for literal in literals { image.append(word: value(literal)) }
  }

  /// BL, encoding T1 (Armv7-M Architecture Reference Manual, A7.7.18).
  private static func branchWithLink(_ offset: Int) -> [UInt16] {
    let bits = UInt32(bitPattern: Int32(offset))
    let sign = bits >> 24 & 1
    let (first, second) = (bits >> 23 & 1, bits >> 22 & 1)
    let high = 0xF000 | sign << 10 | bits >> 12 & 0x3FF
    let low = 0xD000 | (1 ^ first ^ sign) << 13 | (1 ^ second ^ sign) << 11 | bits >> 1 & 0x7FF
    return [UInt16(truncatingIfNeeded: high), UInt16(truncatingIfNeeded: low)]
  }
}

extension [UInt8] {
  fileprivate mutating func append(halfword: UInt16) {
    append(UInt8(truncatingIfNeeded: halfword))
    append(UInt8(truncatingIfNeeded: halfword >> 8))
  }

  fileprivate mutating func append(word: UInt32) {
    append(halfword: UInt16(truncatingIfNeeded: word))
    append(halfword: UInt16(truncatingIfNeeded: word >> 16))
  }
}
