import OtaflashConsole
import OtaflashFirmware

/// The public key for image signatures, in a PEM file. It is not secret: others may read it, but
/// anyone with write access decides which images count as genuine.
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
