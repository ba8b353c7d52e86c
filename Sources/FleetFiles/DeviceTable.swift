#if Fleet
import OtaflashFirmware
import OtaflashFleet

/// Devices in a CSV file (RFC 4180): the first line names the columns, each of the others is a
/// device. Commas separate; a field in double quotation marks may hold them, line ends, and doubled
/// quotation marks. CR LF and LF end a line, and a byte order mark is passed over.
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
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CampaignFileFault(file, at: .start, "it is no UTF-8 text")
    }
    var reader = CSVReader(text: text, file: file)
    guard let header = try reader.next() else {
      throw CampaignFileFault(file, at: .start, "it is empty; its first line names the columns")
    }
    let columns = try Self.columns(of: header, in: file)
    var rows: [Row] = []
    while let record = try reader.next() {
      rows.append(try Self.row(record, columns, in: file))
      guard rows.count <= Campaign.devicesMaximum else {
        throw CampaignFileFault(
          file, at: record[0].place, "there are more than \(Campaign.devicesMaximum) devices")
      }
    }
    self.rows = rows
  }

  private static func columns(
    of header: [CSVReader.Field], in file: CampaignFileFault.File
  ) throws(CampaignFileFault) -> [Column] {
    var columns: [Column] = []
    for field in header {
      guard let column = Column(rawValue: field.text) else {
        throw CampaignFileFault(
          file, at: field.place,
          "there is no column '\(field.text)'; there are "
            + Column.allCases.map(\.rawValue).joined(separator: ", "))
      }
      guard !columns.contains(column) else {
        throw CampaignFileFault(file, at: field.place, "column '\(field.text)' is there twice")
      }
      columns.append(column)
    }
    guard columns.contains(.id) else {
      throw CampaignFileFault(file, at: .start, "the column 'id' is missing")
    }
    return columns
  }

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
      case .tags: device.tags = Set(field.text.split(separator: " ").map(String.init))
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
