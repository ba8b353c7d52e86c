import ArgumentParser
import Glibc

/// The file of `--plot`; its suffix says how the picture is written.
struct PlotFile: Equatable, Sendable {
  enum Format: String, CaseIterable, Sendable { case svg, png }

  let path: String
  let format: Format

  static func parse(_ path: String) throws -> PlotFile {
    guard let format = Format.allCases.first(where: { path.hasSuffix("." + $0.rawValue) }) else {
      throw ValidationError("it writes SVG or PNG: name the file .svg or .png")
    }
    return PlotFile(path: path, format: format)
  }

  /// Finds what the format needs, so that nothing is measured for a picture that cannot be drawn.
  func pen() throws(CommandFault) -> Pen {
    do throws(SVGRendererFault) {
      return Pen(file: self, renderer: format == .png ? try SVGRenderer() : nil)
    } catch {
      throw .plot(error)
    }
  }

  /// A plot file that can be written.
  struct Pen {
    let file: PlotFile
    fileprivate let renderer: SVGRenderer?

    /// Writes the SVG document, as it is or as pixels, into a new file or over an old one.
    func write(_ document: String) throws(CommandFault) {
      var octets = Array(document.utf8)
      do throws(SVGRendererFault) {
        if let renderer { octets = try renderer.png(octets) }
      } catch {
        throw .plot(error)
      }
      if let failure = file.write(octets) { throw .output(errno: failure) }
    }
  }

  /// The errno of what failed, else `nil`.
  private func write(_ octets: [UInt8]) -> Int32? {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return errno }
    let failure = FileOutput(descriptor: descriptor).write(octets)
    guard close(descriptor) == 0 else { return failure ?? errno }
    return failure
  }
}
