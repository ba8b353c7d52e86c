import ArgumentParser

/// The file of `--plot`; its suffix says how the picture is written.
struct PlotFile: Equatable, Sendable {
  enum Format: String, CaseIterable, Sendable { case svg, png }

  let format: Format
  let file: OutputFile

  static func parse(_ path: String) throws -> PlotFile {
    guard let format = Format.allCases.first(where: { path.hasSuffix("." + $0.rawValue) }) else {
      throw ValidationError("it writes SVG or PNG: name the file .svg or .png")
    }
    let kind: OutputFile.Kind =
      switch format {
      case .svg: .svg
      case .png: .png
      }
    return PlotFile(
      format: format, file: OutputFile(path: path, kind: kind, option: "--plot"))
  }

  /// Finds what the format needs and whether the file can be written, so that nothing is measured
  /// for a picture that cannot be drawn.
  func pen(avoiding inputs: InputFiles) throws(CommandFault) -> Pen {
    do throws(OutputFileFault) { try file.check(avoiding: inputs) } catch {
      throw .outputFile(file, error)
    }
    do throws(SVGRendererFault) {
      return Pen(
        file: file, inputs: inputs, renderer: format == .png ? try SVGRenderer() : nil)
    } catch {
      throw .plot(error)
    }
  }

  /// A plot file that can be written.
  struct Pen {
    let file: OutputFile
    fileprivate let inputs: InputFiles
    fileprivate let renderer: SVGRenderer?

    /// Writes the SVG document, as it is or as pixels, into a new file or over an old plot.
    func write(_ document: String) throws(CommandFault) {
      var bytes = Array(document.utf8)
      do throws(SVGRendererFault) {
        if let renderer { bytes = try renderer.png(bytes) }
      } catch {
        throw .plot(error)
      }
      do throws(OutputFileFault) { try file.write(bytes, avoiding: inputs) } catch {
        throw .outputFile(file, error)
      }
    }
  }
}
