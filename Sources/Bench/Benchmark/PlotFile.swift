import ArgumentParser
import OtaflashConsole
import OtaflashDevices

/// The SVG file that the option `--plot` specifies.
package struct PlotFile: Equatable, Sendable {
  package static let suffix = "svg"

  package let file: OutputFile

  package static func parse(_ path: String) throws -> PlotFile {
    guard path.hasSuffix("." + suffix) else {
      throw ValidationError(
        "the plot is an SVG document: name the file .svg" + conversion(to: path))
    }
    return PlotFile(file: OutputFile(path: path, kind: .svg, option: "--plot"))
  }

  /// Returns the command that converts the plot to `path` as a part of a message; empty unless
  /// `path` names a PNG file.
  private static func conversion(to path: String) -> String {
    guard path.lowercased().hasSuffix(".png") else { return "" }
    let plot = path.dropLast(3) + suffix
    return ", then run '" + ShellWords.join(["rsvg-convert", "-o", path, String(plot)]) + "'"
  }

  /// Checks that the file can be written, before anything is measured.
  package func pen(avoiding inputs: InputFiles) throws(CommandFault) -> Pen {
    do throws(OutputFileFault) { try file.check(avoiding: inputs) } catch {
      throw .outputFile(file, error)
    }
    return Pen(file: file, inputs: inputs)
  }

  /// A plot file that can be written.
  package struct Pen {
    package let file: OutputFile
    fileprivate let inputs: InputFiles

    /// Writes the document to a new file or over an old plot.
    package func write(_ document: String) throws(CommandFault) {
      do throws(OutputFileFault) {
        try file.write(Array(document.utf8), avoiding: inputs)
      } catch {
        throw .outputFile(file, error)
      }
    }
  }
}
