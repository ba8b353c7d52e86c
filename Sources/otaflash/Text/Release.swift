/// The version of this tool.
enum Release {
  static let version = "0.1.0"
}
