#if Fleet
import OtaflashFirmware
import OtaflashFleet

/// Devices in a CSV file (RFC 4180): the first line contains the column names, and each other line
/// describes a device. The separator is a comma, or a semicolon or tab if the first line contains
/// one of these and no comma. A field in double quotation marks may contain separators, line ends
/// and doubled quotation marks. CR LF or LF ends a line. The text is UTF-8, or UTF-16 with a byte
/// order mark.
package struct DeviceTable: Sendable {
  /// The permitted columns; `id` is required.
  package enum Column: String, Hashable, Sendable, CaseIterable {
    case id, name, board, site, tags, version
    case keyFile = "key-file"
  }

  /// A device and the position of its row.
  package struct Row: Hashable, Sendable {
    package let device: FleetDevice
    package let place: FilePlace
  }

  /// The maximum size in bytes. A table of 100,000 devices with long names needs a tenth of it.
  package static let sizeLimit = 64 * 1024 * 1024

  package let rows: [Row]

  /// - Parameters:
  ///   - path: the path of the file, for faults.
  ///   - bytes: the content of the file.
  package init(path: String, bytes: [UInt8]) throws(CampaignFileFault) {
    let file = CampaignFileFault.File.devices(path: path)
    guard bytes.count <= Self.sizeLimit else {
      throw CampaignFileFault(
        file, at: .start, "the file is larger than \(Self.sizeLimit / 1024 / 1024) MiB")
    }
    let text = try FileText.utf8(bytes, of: file)
    var reader = CSVReader(text: String(decoding: text, as: UTF8.self), file: file)
    guard let header = try reader.next() else {
      throw CampaignFileFault(
        file, at: .start, "the file is empty; its first line must contain the column names")
    }
    let mistakes = MistakeList()
    let columns = Self.columns(of: header, in: file, mistakes)
    // Rows cannot be read without valid columns.
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
        // An unclosed quotation mark may enclose all following rows.
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
            "unknown column '\(field.text)'"
              + (hint.isEmpty ? "; the columns are " + names.joined(separator: ", ") : hint)))
        continue
      }
      if columns.contains(column) {
        mistakes.note(
          CampaignFileFault(file, at: field.place, "duplicate column '\(field.text)'"))
      }
      columns.append(column)
    }
    if isComplete, !columns.contains(.id) {
      mistakes.note(CampaignFileFault(file, at: .start, "the column 'id' is missing"))
    }
    return columns
  }

  /// Column names that other programs commonly use.
  private static let otherNames = [
    "address": "id", "mac": "id", "mac address": "id", "device": "id", "device id": "id",
    "device-id": "id", "location": "site", "type": "board", "model": "board", "tag": "tags",
    "key": "key-file", "firmware": "version",
  ]

  /// The separators of several tags in a cell.
  private static let tagSeparators: Set<Character> = [" ", ",", ";"]

  private static func row(
    _ record: [CSVReader.Field], _ columns: [Column], in file: CampaignFileFault.File
  ) throws(CampaignFileFault) -> Row {
    guard record.count == columns.count else {
      throw CampaignFileFault(
        file, at: record[0].place,
        "the row has \(record.count) fields, but the table has \(columns.count) columns")
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
        file, at: record[0].place, "write a simulated fleet in the campaign, in 'devices'")
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
            file, at: field.place, "'\(field.text)' is not a version; write it as 1.2.0")
        }
        device.version = version
      }
    }
    return Row(device: device, place: record[0].place)
  }
}
#endif
