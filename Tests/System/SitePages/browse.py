"""browse.py SITE [PICTURES]: opens every page of the site from disk in headless Chromium. Every link and
anchor must have a target, the console must be silent, nothing may be loaded from elsewhere, and no page may
be wider than the screen of a phone or a desktop. Search must find pages. Without JavaScript, everything
except search must work. PICTURES stores screenshots of some pages.
"""

import base64
import pathlib
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Support/Chromium"))
from chromium import Browser  # noqa: E402

WIDTHS = (360, 1280)
# Pages that contain all of their resources and have their own tests.
OTHERS = ("samples/",)
# Search queries, each with the page that must be among the first three results.
SEARCHES = {
    "link lost": "docs/troubleshooting.html#e-link-lost",
    "E-STALLED": "docs/troubleshooting.html#e-stalled",
    "smpmgr": "docs/coming-from.html",
    "--allow-downgrade": "man/otaflash-flash.1.html#allow",
    "GATTClient": "library/OtaflashGATT/GATTClient.html",
    "your device firmware": "docs/your-device.html",
    "campaign waves": "docs/fleet.html#waves",
    "PineTime": "docs/devices.html",
    "Ruuvi": "docs/devices.html",
    "Bangle.js": "docs/devices.html",
    "micro:bit": "docs/devices.html",
    "LEGO hub": "docs/devices.html",
}
PICTURED = (
    "index.html", "README.html", "docs/fleet.html", "docs/coming-from.html", "docs/your-device.html",
    "docs/troubleshooting.html", "man/otaflash-flash.1.html", "library/OtaflashGATT/index.html",
    "library/OtaflashGATT/GATTClient.html",
)

# The facts about a page, collected in the browser.
FACTS = """(() => ({
  width: document.documentElement.scrollWidth,
  ids: [...document.querySelectorAll('[id]')].map((e) => e.id),
  links: [...document.querySelectorAll('a[href]')].map((e) => e.href),
  loaded: [...document.querySelectorAll('img, script, link, iframe, object, embed, video, audio')]
    .map((e) => e.src || e.href || e.data).filter(Boolean),
  broken: [...document.images].filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.src),
  headings: document.querySelectorAll('h1').length,
}))()"""


def screen(browser, width, dark=False):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                 mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])


class Check:
    def __init__(self, browser, site, pictures):
        self.browser, self.site, self.pictures = browser, site.resolve(), pictures
        self.root = self.site.as_uri() + "/"
        self.ids, self.links, self.found = {}, {}, []

    def say(self, page, what):
        self.found.append(f"{page}: {what}")

    def look(self, page, width):
        address = self.root + urllib.parse.quote(page)
        self.browser.open(address)
        facts = self.browser.value(FACTS)
        if facts["width"] > width:
            self.say(page, f"is {facts['width']} pixels wide on a screen of {width}")
        if facts["headings"] != 1:
            self.say(page, f"has {facts['headings']} headings of level 1")
        for picture in facts["broken"]:
            self.say(page, f"does not show {picture}")
        for source in facts["loaded"]:
            if not source.startswith(self.root):
                self.say(page, f"loads {source}")
        for complaint in self.browser.complaints(address):
            if not complaint.startswith("a request: " + self.root):
                self.say(page, complaint)
        self.ids[page] = set(facts["ids"])
        if len(self.ids[page]) != len(facts["ids"]):
            twice = {one for one in facts["ids"] if facts["ids"].count(one) > 1}
            self.say(page, f"has duplicate anchors: {', '.join(sorted(twice)[:5])}")
        self.links[page] = set(facts["links"])

    def follow(self):
        """Checks every link of every opened page."""
        for page, links in self.links.items():
            for link in links:
                if not link.startswith("file:"):
                    continue
                target, _, anchor = link.partition("#")
                if not target.startswith(self.root):
                    self.say(page, f"links to {link}, outside the site")
                    continue
                path = urllib.parse.unquote(target.removeprefix(self.root))
                anchor = urllib.parse.unquote(anchor)
                if not (self.site / path).is_file():
                    self.say(page, f"links to {path}, which does not exist")
                elif anchor and path in self.ids and anchor not in self.ids[path]:
                    self.say(page, f"links to {path}#{anchor}, which does not exist")

    def search(self):
        self.browser.open(self.root + "docs/fleet.html")
        self.browser.call("Runtime.evaluate", awaitPromise=True, expression="""(async () => {
            const field = document.querySelector('.search input');
            field.dispatchEvent(new Event('focus'));
            for (let i = 0; i < 200 && !searchIndex; i++) await new Promise((go) => setTimeout(go, 25));
        })()""")

        def results(words):
            return self.browser.value("""(() => {
                const field = document.querySelector('.search input');
                field.value = %r;
                field.dispatchEvent(new Event('input'));
                return [...document.querySelectorAll('.results a')].map((a) => a.href);
            })()""" % words)

        for words, wanted in SEARCHES.items():
            hits = results(words) or []
            if not any(hit.startswith(self.root + wanted) for hit in hits[:3]):
                self.say("search", f"'{words}' finds {hits[:3]}, not {wanted}")
        if results("xyzzyplugh"):
            self.say("search", "finds a missing text")
        for address in results("otaflash"):
            if not (self.site / address.removeprefix(self.root).partition("#")[0]).is_file():
                self.say("search", f"links to {address}, which does not exist")
        results("link lost")
        self.picture("search", 1280)

    def without_script(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.open(self.root + "index.html")
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        shown = self.browser.value("""[...document.querySelectorAll('.pages a')]
            .filter((a) => a.getClientRects().length).length""")
        if not shown or shown < 50:
            self.say("index.html", f"shows {shown} links to pages without JavaScript")

    def picture(self, name, width, dark=False):
        if not self.pictures:
            return
        shot = self.browser.call("Page.captureScreenshot", format="png")
        file = f"{name.replace('/', '-').removesuffix('.html')}-{width}{'-dark' if dark else ''}.png"
        (self.pictures / file).write_bytes(base64.b64decode(shot["data"]))


def main():
    site = pathlib.Path(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    pages = sorted(str(file.relative_to(site)) for file in site.rglob("*.html"))
    pages = [page for page in pages if not page.startswith(OTHERS)]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            check = Check(browser, site, pictures)
            for width in WIDTHS:
                screen(browser, width)
                # Generated pages that fit the small screen are not opened again on the large one.
                alike = ("library/", "source/") if width > min(WIDTHS) else ()
                for page in pages:
                    if page.startswith(alike) and page not in PICTURED:
                        continue
                    check.look(page, width)
                    if page in PICTURED:
                        check.picture(page, width)
            check.follow()
            check.search()
            check.without_script()
            for width in WIDTHS:
                screen(browser, width, dark=True)
                check.look("index.html", width)
                check.picture("index.html", width, dark=True)
        finally:
            browser.close()
    print(f"{len(pages)} pages in {len(WIDTHS)} widths, {sum(map(len, check.links.values()))} links, "
          f"{time.monotonic() - began:.0f} s")
    for complaint in check.found:
        print(f"FAILED {complaint}", file=sys.stderr)
    sys.exit(1 if check.found else 0)


if __name__ == "__main__":
    main()
