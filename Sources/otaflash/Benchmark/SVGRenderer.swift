import Glibc

/// Makes a PNG of an SVG document with the system's librsvg (2.52 or later), loaded when a PNG is
/// asked for: a program that flashes devices should not need a text and graphics stack to start.
struct SVGRenderer {
  private static let library = "librsvg-2.so.2"
  /// Pixels an SVG unit: fine enough for a screen of twice the density.
  private static let scale = 2
  /// CAIRO_FORMAT_ARGB32.
  private static let pixelFormat: Int32 = 0
  /// CAIRO_STATUS_SUCCESS.
  private static let success: Int32 = 0

  /// RsvgRectangle.
  private struct Viewport {
    var x = 0.0
    var y = 0.0
    var width: Double
    var height: Double
  }

  private typealias Append =
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, UInt32) -> Int32

  // The functions, with the types of librsvg/rsvg.h, cairo.h and gobject.h.
  private let load: @convention(c) (UnsafePointer<UInt8>, UInt, OpaquePointer?) -> OpaquePointer?
  private let measure:
    @convention(c) (OpaquePointer, UnsafeMutablePointer<Double>, UnsafeMutablePointer<Double>) ->
      Int32
  private let render:
    @convention(c) (OpaquePointer, OpaquePointer, UnsafeRawPointer, OpaquePointer?) -> Int32
  private let release: @convention(c) (OpaquePointer) -> Void
  private let makeSurface: @convention(c) (Int32, Int32, Int32) -> OpaquePointer
  private let makeContext: @convention(c) (OpaquePointer) -> OpaquePointer
  private let contextStatus: @convention(c) (OpaquePointer) -> Int32
  private let releaseContext: @convention(c) (OpaquePointer) -> Void
  private let writePNG: @convention(c) (OpaquePointer, Append, UnsafeMutableRawPointer) -> Int32
  private let releaseSurface: @convention(c) (OpaquePointer) -> Void

  /// Loads the library. It stays loaded: GLib cannot be taken out of a process again.
  init() throws(SVGRendererFault) {
    guard let library = dlopen(Self.library, RTLD_NOW) else {
      throw .notInstalled(reason: String(cString: dlerror()))
    }
    // Symbols of the libraries below librsvg are found through it.
    load = try Self.function("rsvg_handle_new_from_data", in: library)
    measure = try Self.function("rsvg_handle_get_intrinsic_size_in_pixels", in: library)
    render = try Self.function("rsvg_handle_render_document", in: library)
    release = try Self.function("g_object_unref", in: library)
    makeSurface = try Self.function("cairo_image_surface_create", in: library)
    makeContext = try Self.function("cairo_create", in: library)
    contextStatus = try Self.function("cairo_status", in: library)
    releaseContext = try Self.function("cairo_destroy", in: library)
    writePNG = try Self.function("cairo_surface_write_to_png_stream", in: library)
    releaseSurface = try Self.function("cairo_surface_destroy", in: library)
  }

  /// A symbol has an address and no type; the caller states the type of the library's header.
  private static func function<Function>(
    _ name: String, in library: UnsafeMutableRawPointer
  ) throws(SVGRendererFault) -> Function {
    guard let symbol = dlsym(library, name) else {
      throw .notInstalled(reason: String(cString: dlerror()))
    }
    return unsafeBitCast(symbol, to: Function.self)
  }

  /// The bytes of a PNG file.
  func png(_ document: [UInt8]) throws(SVGRendererFault) -> [UInt8] {
    guard let picture = load(document, UInt(document.count), nil) else {
      throw .failed(step: "reading the SVG document")
    }
    defer { release(picture) }
    var size = (width: 0.0, height: 0.0)
    guard measure(picture, &size.width, &size.height) != 0 else {
      throw .failed(step: "measuring the picture")
    }
    var viewport = Viewport(
      width: size.width * Double(Self.scale), height: size.height * Double(Self.scale))
    let surface = makeSurface(Self.pixelFormat, Int32(viewport.width), Int32(viewport.height))
    defer { releaseSurface(surface) }
    let context = makeContext(surface)
    defer { releaseContext(context) }
    guard render(picture, context, &viewport, nil) != 0, contextStatus(context) == Self.success
    else { throw .failed(step: "drawing") }
    return try encoded(surface)
  }

  private func encoded(_ surface: OpaquePointer) throws(SVGRendererFault) -> [UInt8] {
    var bytes: [UInt8] = []
    let append: Append = { closure, start, count in
      guard let closure else { preconditionFailure("cairo hands back what it was given") }
      closure.assumingMemoryBound(to: [UInt8].self).pointee
        .append(contentsOf: UnsafeBufferPointer(start: start, count: Int(count)))
      return SVGRenderer.success
    }
    // Not `&bytes`: that would be the address of the elements.
    let status = withUnsafeMutablePointer(to: &bytes) { writePNG(surface, append, $0) }
    guard status == Self.success else { throw .failed(step: "encoding the PNG") }
    return bytes
  }
}
