#if Sites
import OtaflashConsole
import OtaflashFleetReport

/// The script, style and icon of the page. They are part of the program, so that the pages and
/// these files always match.
enum Assets {
  static let style = PageStyle.text + SiteStyle.text

  /// A text that differs for files of different program versions, so that browsers do not use
  /// outdated files from their caches.
  static let version = String(
    Text.hex(SecretBytes.sha256(Array((style + script + icon).utf8))).prefix(12))

  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" \
    rx="7" fill="#2467b3"/><path d="M18 4 8 18h6l-1 10 11-15h-7z" fill="#fff"/></svg>
    """

  /// Replaces the live parts of a page when the coordinator sends new content. A part that has the
  /// focus is not replaced, so that the keyboard focus stays where it is.
  static let script = #"""
    "use strict";
    (() => {
      const path = document.body.dataset.stream;
      if (!path || !window.EventSource) return;
      const source = new EventSource(path);
      const isBusy = (target) =>
        target.contains(document.activeElement) && document.activeElement !== target;
      const replace = (target, part) => {
        const offsets = [...target.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
        target.replaceChildren(...part.childNodes);
        [...target.querySelectorAll(".scroll")].forEach((box, number) => {
          box.scrollLeft = offsets[number] ?? 0;
        });
      };
      source.addEventListener("parts", (event) => {
        const parsed = new DOMParser().parseFromString(event.data, "text/html");
        for (const part of parsed.querySelectorAll("[data-live]")) {
          const target = document.getElementById(part.id);
          if (!target || target.innerHTML === part.innerHTML || isBusy(target)) continue;
          replace(target, part);
        }
      });
      source.addEventListener("ended", () => source.close());
      source.addEventListener("error", () => {
        if (source.readyState !== EventSource.CLOSED) return;
        document.getElementById("stream-stopped").hidden = false;
      });
      addEventListener("pagehide", () => source.close());
    })();

    """#
}
#endif
