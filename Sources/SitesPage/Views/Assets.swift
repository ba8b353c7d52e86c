#if Sites
import OtaflashConsole
import OtaflashFleetReport

/// The files of the page. They are part of the program, so a page and its files always match.
enum Assets {
  static let style = PageStyle.text + SiteStyle.text

  /// Distinguishes the files of program versions in the caches of browsers.
  static let version = String(
    Text.hex(SecretBytes.sha256(Array((style + script + icon).utf8))).prefix(12))

  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" \
    rx="7" fill="#2467b3"/><path d="M18 4 8 18h6l-1 10 11-15h-7z" fill="#fff"/></svg>
    """

  /// Replaces the live parts of a page when the coordinator sends new ones. A part that has the
  /// focus stays, so that the keyboard does not lose its place.
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
