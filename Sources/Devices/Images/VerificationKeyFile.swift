import OtaflashConsole
import OtaflashFirmware

/// The public key that images must be signed by, in a PEM file. It is no secret: others may read
/// it, but whoever can write it decides what is taken for genuine.
package enum VerificationKeyFile {
  package static func load(_ path: String) throws(CommandFault) -> VerificationKey {
    let text: String
    do throws(FileFault) { text = try TextFile(path: path).read() } catch {
      throw .keyFile(.file(error))
    }
    do throws(VerificationKeyFault) {
      return try VerificationKey(pem: Array(text.utf8))
    } catch {
      throw .verificationKey(path: path, error)
    }
  }
}
