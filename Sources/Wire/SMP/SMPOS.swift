/// The commands of the OS management group (Zephyr, MCUmgr group 0) that otaflash uses.
package enum SMPOS {
  /// Command 0: returns the same string.
  package struct Echo: SMPRequest {
    package static let command = SMPCommand(.os, 0, .write)
    package var text: String

    package init(_ text: String) { self.text = text }

    package init(fields: SMPFields) throws(SMPDecodeFault) { text = try fields.required("d") }

    package var body: CBORMap { CBORMap(["d": .text(text)]) }

    package struct Response: SMPResponse {
      package var text: String

      package init(_ text: String) { self.text = text }

      package init(fields: SMPFields) throws(SMPDecodeFault) { text = try fields.required("r") }

      package var body: CBORMap { CBORMap(["r": .text(text)]) }
    }
  }

  /// Command 5: restarts the device. The response is sent before the restart.
  package struct Reset: SMPRequest {
    package typealias Response = SMPDone
    package static let command = SMPCommand(.os, 5, .write)
    /// The boot mode that starts the SMP server of the bootloader instead of the application.
    package static let bootloader = 1
    /// Whether the device restarts even if the application reports that it is busy.
    package var isForced: Bool?
    /// The boot mode after the restart: 0 starts the application; see `bootloader` (Zephyr,
    /// retained boot mode).
    package var bootMode: Int?

    package init(isForced: Bool? = nil, bootMode: Int? = nil) {
      self.isForced = isForced
      self.bootMode = bootMode
    }

    /// The specification defines `force` as a number; some hosts send a boolean.
    package init(fields: SMPFields) throws(SMPDecodeFault) {
      do throws(SMPDecodeFault) {
        isForced = try fields.value("force", of: Int.self).map { $0 != 0 }
      } catch .wrongKind {
        isForced = try fields.value("force", of: Bool.self)
      }
      bootMode = try fields.value("boot_mode")
    }

    package var body: CBORMap {
      CBORMap([
        "force": isForced.map { .integer($0 ? 1 : 0) },
        "boot_mode": bootMode.map(CBORItem.integer),
      ])
    }
  }

  /// Command 6: reports the buffers for requests and responses.
  package struct Parameters: SMPRequest {
    package static let command = SMPCommand(.os, 6, .read)

    package init() {}
    package init(fields: SMPFields) {}
    package var body: CBORMap { CBORMap() }

    package struct Response: SMPResponse {
      /// The length of the longest message in bytes, including its header.
      package var bufferSize: Int
      package var bufferCount: Int

      package init(bufferSize: Int, bufferCount: Int) {
        self.bufferSize = bufferSize
        self.bufferCount = bufferCount
      }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        bufferSize = try fields.required("buf_size")
        bufferCount = try fields.required("buf_count")
      }

      package var body: CBORMap {
        CBORMap(["buf_size": .integer(bufferSize), "buf_count": .integer(bufferCount)])
      }
    }
  }

  /// Command 7: returns information about the application. The letters in `format` select the
  /// parts; `a` selects all parts.
  package struct ApplicationInfo: SMPRequest {
    package static let command = SMPCommand(.os, 7, .read)
    package var format: String?

    package init(format: String? = nil) { self.format = format }

    package init(fields: SMPFields) throws(SMPDecodeFault) { format = try fields.value("format") }

    package var body: CBORMap { CBORMap(["format": format.map(CBORItem.text)]) }

    package struct Response: SMPResponse {
      package var output: String

      package init(output: String) { self.output = output }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        output = try fields.required("output")
      }

      package var body: CBORMap { CBORMap(["output": .text(output)]) }
    }
  }

  /// Command 8: returns the name of the bootloader or, with the query `mode`, its activation mode.
  package struct BootloaderInfo: SMPRequest {
    package static let command = SMPCommand(.os, 8, .read)
    package static let modeQuery = "mode"
    package var query: String?

    package init(query: String? = nil) { self.query = query }

    package init(fields: SMPFields) throws(SMPDecodeFault) { query = try fields.value("query") }

    package var body: CBORMap { CBORMap(["query": query.map(CBORItem.text)]) }

    package struct Response: SMPResponse {
      package var bootloader: String?
      /// The number of MCUboot's activation mode.
      package var mode: Int32?
      /// Whether the bootloader refuses to start an image with a lower version.
      package var forbidsDowngrade: Bool?

      package init(
        bootloader: String? = nil, mode: Int32? = nil, forbidsDowngrade: Bool? = nil
      ) {
        self.bootloader = bootloader
        self.mode = mode
        self.forbidsDowngrade = forbidsDowngrade
      }

      package init(fields: SMPFields) throws(SMPDecodeFault) {
        bootloader = try fields.value("bootloader")
        mode = try fields.value("mode")
        forbidsDowngrade = try fields.value("no-downgrade")
      }

      package var body: CBORMap {
        CBORMap([
          "bootloader": bootloader.map(CBORItem.text),
          "mode": mode.map { .integer(Int($0)) },
          "no-downgrade": forbidsDowngrade.map(CBORItem.boolean),
        ])
      }
    }
  }
}
