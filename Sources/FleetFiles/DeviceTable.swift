#if Fleet
import OtaflashFirmware
import OtaflashFleet

/// Devices in a CSV file (RFC 4180): the first line names the columns, each of the others is a
/// device. Commas separate, or semicolons or tabs where the first line has those instead; a field
/// in double quotation marks may hold them, line ends, and doubled quotation marks. CR LF and LF
/// end a line. The text is UTF-8, or UTF-16 with a byte order mark.
package struct DeviceTable: Sendable {
  /// What a column may be called; `id` must be there.
  package enum Column: String, Hashable, Sendable, CaseIterable {
    case id, name, board, site, tags, version
    case keyFile = "key-file"
  }

  /// A device and where its row begins.
  package struct Row: Hashable, Sendable {
    package let device: FleetDevice
    package let place: FilePlace
  }

  /// In bytes; 100,000 devices with long names are a tenth of it.
  package static let sizeLimit = 64 * 1024 * 1024

  package let rows: [Row]

  /// - Parameters:
  ///   - path: of the file, for faults.
  ///   - bytes: what it holds.
  package init(path: String, bytes: [UInt8]) throws(CampaignFileFault) {
    let file = CampaignFileFault.File.devices(path: path)
    guard bytes.count <= Self.sizeLimit else {
      throw CampaignFileFault(
        file, at: .start, "it has more than \(Self.sizeLimit / 1024 / 1024) MiB")
    }
    let text = try FileText.utf8(bytes, of: file)
    var reader = CSVReader(text: String(decoding: text, as: UTF8.self), file: file)
    guard let header = try reader.next() else {
      throw CampaignFileFault(file, at: .start, "it is empty; its first line names the columns")
    }
    let mistakes = MistakeList()
    let columns = Self.columns(of: header, in: file, mistakes)
    // Without its columns no row can be read.
    try mistakes.finish()
    rows = Self.rows(of: &reader, columns, in: file, mistakes)
    try mistakes.finish()
  }

  private static func rows(
    of reader: inout CSVReader, _ columns: [Column], in file: CampaignFileFault.File,
    _ mistakes: MistakeList
  ) -> [Row] {
    var rows: [Row] = []
    while !mistakes.isFull {
      let record: [CSVReader.Field]?
      do throws(CampaignFileFault) { record = try reader.next() } catch {
        mistakes.note(error)
        // An open quotation mark may enclose all that follows.
        guard error.place.line == reader.line else { return rows }
        reader.skipRow()
        continue
      }
      guard let record else { return rows }
      guard rows.count < Campaign.devicesMaximum else {
        mistakes.note(
          CampaignFileFault(
            file, at: record[0].place, "there are more than \(Campaign.devicesMaximum) devices"))
        return rows
      }
      let row = mistakes.attempt { () throws(CampaignFileFault) in
        try Self.row(record, columns, in: file)
      }
      if let row { rows.append(row) }
    }
    return rows
  }

  private static func columns(
    of header: [CSVReader.Field], in file: CampaignFileFault.File, _ mistakes: MistakeList
  ) -> [Column] {
    let names = Column.allCases.map(\.rawValue)
    var columns: [Column] = []
    var isComplete = true
    for field in header {
      guard let column = Column(rawValue: field.text) else {
        isComplete = false
        let hint = NameSuggestion.words(for: field.text, among: names, others: otherNames)
        mistakes.note(
          CampaignFileFault(
            file, at: field.place,
            "there is no column '\(field.text)'"
              + (hint.isEmpty ? "; there are " + names.joined(separator: ", ") : hint)))
        continue
      }
      if columns.contains(column) {
        mistakes.note(
          CampaignFileFault(file, at: field.place, "column '\(field.text)' is there twice"))
      }
      columns.append(column)
    }
    if isComplete, !columns.contains(.id) {
      mistakes.note(CampaignFileFault(file, at: .start, "the column 'id' is missing"))
    }
    return columns
  }

  /// What others call our columns.
  private static let otherNames = [
    "address": "id", "mac": "id", "mac address": "id", "device": "id", "device id": "id",
    "device-id": "id", "location": "site", "type": "board", "model": "board", "tag": "tags",
    "key": "key-file", "firmware": "version",
  ]

  /// A cell holds several tags as people separate words in a cell.
  private static let tagSeparators: Set<Character> = [" ", ",", ";"]

  private static func row(
    _ record: [CSVReader.Field], _ columns: [Column], in file: CampaignFileFault.File
  ) throws(CampaignFileFault) -> Row {
    guard record.count == columns.count else {
      throw CampaignFileFault(
        file, at: record[0].place,
        "the row has \(record.count) fields, and there are \(columns.count) columns")
    }
    var device: FleetDevice?
    if let index = columns.firstIndex(of: .id), !record[index].text.isEmpty {
      device = FleetDevice(id: record[index].text)
    }
    guard var device else {
      throw CampaignFileFault(file, at: record[0].place, "the row has no id")
    }
    guard !device.id.hasPrefix(DeviceListReading.simulatedFleet) else {
      throw CampaignFileFault(
        file, at: record[0].place, "a simulated fleet stands in the campaign, under 'devices'")
    }
    for (column, field) in zip(columns, record) where !field.text.isEmpty {
      switch column {
      case .id: break
      case .name: device.name = field.text
      case .board: device.board = field.text
      case .site: device.site = field.text
      case .keyFile: device.keyFile = field.text
      case .tags:
        device.tags = Set(field.text.split { tagSeparators.contains($0) }.map(String.init))
      case .version:
        guard let version = FirmwareVersion(field.text) else {
          throw CampaignFileFault(
            file, at: field.place, "'\(field.text)' is no version; write it as 1.2.0")
        }
        device.version = version
      }
    }
    return Row(device: device, place: record[0].place)
  }
}
#endif
