#if Sites
import OtaflashConsole

/// The reason why the accounts cannot be read or changed.
package enum AccountsFault: Error, Hashable, Sendable {
  case missing(path: String)
  /// The mode of the file permits access by other users of the computer.
  case notPrivate(path: String, mode: UInt32)
  /// The file belongs to another user.
  case otherOwner(path: String)
  case notAFile(path: String)
  case invalid(path: String, words: String)
  case system(path: String, errno: Int32)
  case badName(String)
  case badPassword(bytes: Int)
  case exists(String)
  case unknown(String)
  case unknownToken(String)
}

extension AccountsFault: CustomStringConvertible {
  /// The fault with its remedy, as a clause.
  package var description: String {
    switch self {
    case .missing(let path): "there is no accounts file \(path): add an account first"
    case .notPrivate(let path, let mode):
      "the accounts file \(path) has mode \(String(mode, radix: 8)), so other users can access it: "
        + "run 'chmod 600 \(path)'"
    case .otherOwner(let path):
      "the accounts file \(path) belongs to another user: change its owner"
    case .notAFile(let path): "\(path) is not a regular file: move it away"
    case .invalid(let path, let words): "the accounts file \(path) is invalid: \(words)"
    case .system(let path, let errno):
      "the accounts file \(path) cannot be used: \(SystemError.text(errno))"
    case .badName(let name):
      "'\(VisibleText.escaped(name))' is not a valid name: use 1 to \(Account.nameMaximum) "
        + "letters, digits and . _ @ -"
    case .badPassword(let bytes):
      "the password has \(bytes) bytes; \(PasswordHash.lengths.lowerBound) to "
        + "\(PasswordHash.lengths.upperBound) are permitted"
    case .exists(let name): "there is already an account '\(name)'"
    case .unknown(let name): "there is no account '\(name)'"
    case .unknownToken(let id): "there is no token '\(id)'"
    }
  }
}
#endif
