/// The commands of the shell group (Zephyr, MCUmgr group 9).
package enum SMPShell {
  /// Command 0: runs one line of the shell.
  package struct Execute: SMPRequest {
    package static let command = SMPCommand(.shell, 0, .write)
    /// The words of the line. Servers join them with spaces.
    package var words: [String]

    package init(_ words: [String]) { self.words = words }

    package init(fields: SMPFields) throws(SMPDecodeFault) {
      words = try fields.texts("argv") ?? []
      guard !words.isEmpty else { throw .missing("argv") }
    }

    package var body: CBORMap { CBORMap(["argv": .array(words.map(CBORItem.text))]) }

    package struct Response: SMPResponse {
      package var output: String
      /// The return code of the command; 0 = success.
      package var code: Int32

      package init(output: String, code: Int32) {
        self.output = output
        self.code = code
      }

      /// Servers before Zephyr 3.4 report the code as `rc`.
      package init(fields: SMPFields) throws(SMPDecodeFault) {
        output = try fields.required("o")
        let older: Int32? = try fields.value("rc")
        code = try fields.value("ret") ?? older ?? 0
      }

      package var body: CBORMap {
        CBORMap(["o": .text(output), "ret": .integer(Int(code))])
      }
    }
  }
}

extension SMPMessage {
  /// The result of a shell command. An `rc` together with output is the code of the command, not a
  /// refusal by the server.
  package func shellAnswer() throws(SMPDecodeFault) -> Result<SMPShell.Execute.Response, SMPRefusal>
  {
    let fields = SMPFields(body)
    guard let _: String = try fields.value("o") else {
      return try answer(to: SMPShell.Execute.self)
    }
    return .success(try SMPShell.Execute.Response(fields: fields))
  }
}
