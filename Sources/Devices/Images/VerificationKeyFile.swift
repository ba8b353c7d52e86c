import OtaflashConsole
import OtaflashFirmware

/// The public key for image signatures, in a PEM file. The key is not secret, so other users may
/// read it. However, anyone with write access to the file decides which images are considered
/// genuine.
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
