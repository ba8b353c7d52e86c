/// Why an earlier benchmark cannot be compared with.
enum BaselineFault: Error, Equatable {
  case file(FileFault)
  /// No `otaflash bench --json` wrote it.
  case malformed(path: String)
  /// It measured other settings.
  case nothingInCommon(path: String)
}

/// Why no picture of pixels came of an SVG document.
enum SVGRendererFault: Error, Equatable {
  /// librsvg is not there; `reason` is the dynamic linker's.
  case notInstalled(reason: String)
  case failed(step: String)
}
