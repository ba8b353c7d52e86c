"""browse.py FOLDER [PICTURES]: opens each report of FOLDER in headless Chromium, narrow, wide, dark,
without JavaScript and as paper. The test fails on any console message, on any request, on a page that is
wider than its screen, and on a table that does not sort and filter. PICTURES stores screenshots and PDFs.
"""

import base64
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Support/Chromium"))
from chromium import Browser  # noqa: E402

PAPER = 120  # seconds for a document


# The conditions that the page of every report must meet.
SOUND = {
    "one script, from the report": "document.scripts.length === 1",
    "no loaded resource": "!document.querySelector('img, iframe, object, embed, link, audio, video')",
    "no handler in an attribute": """![...document.querySelectorAll('*')].some(
        (e) => [...e.attributes].some((a) => a.name.startsWith('on') || a.name === 'style'))""",
    "no external address": """![...document.querySelectorAll('*')].some((e) =>
        e.hasAttribute('href') || e.hasAttribute('src') || e.hasAttribute('xlink:href'))""",
    "headings in their order": """[...document.querySelectorAll('h1,h2,h3')].every(
        (e, i, all) => i === 0 ? e.tagName === 'H1' : e.tagName[1] - all[i - 1].tagName[1] <= 1)""",
    "one first heading": "document.querySelectorAll('h1').length === 1",
    "tables have captions": "[...document.querySelectorAll('table')].every((t) => t.caption)",
    "pictures have descriptions": """[...document.querySelectorAll('svg:not([aria-hidden])')].every(
        (s) => s.getAttribute('role') === 'img' && s.querySelector('title').textContent)""",
    "no control character in any text": r"!/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e]/.test(document.body.textContent)",
    "a policy that forbids loading": """(document.querySelector('meta[http-equiv]') || { content: '' })
        .content.startsWith("default-src 'none'")""",
}

# Tests the table with its script: the second click on Duration sorts the longest first, and a
# filter keeps some rows.
TABLE = r"""(() => {
  const rows = () => [...document.querySelectorAll('#table tbody tr')].filter((r) => !r.hidden);
  const all = rows().length;
  const heads = [...document.querySelectorAll('#table thead th')];
  const took = heads.findIndex((h) => h.textContent.startsWith('Duration'));
  const button = heads[took].querySelector('button');
  const values = () => rows().map((r) => r.cells[took].dataset.v).filter((v) => v !== '').map(Number);
  button.click();
  const rising = values();
  if (rising.some((v, i) => i > 0 && v < rising[i - 1])) return 'does not sort';
  if (heads[took].getAttribute('aria-sort') !== 'ascending') return 'does not state its sort order';
  button.click();
  const falling = values();
  if (falling.some((v, i) => i > 0 && v > falling[i - 1])) return 'does not sort backwards';
  const choice = document.getElementById('outcome');
  choice.value = choice.options[1].value;
  choice.dispatchEvent(new Event('change'));
  const chosen = rows();
  if (chosen.length === 0 || chosen.some((r) => !r.classList.contains(choice.value))) return 'does not filter';
  choice.value = '';
  const find = document.getElementById('find');
  find.value = 'no device has this name';
  find.dispatchEvent(new Event('input'));
  if (rows().length !== 0) return 'finds a missing device';
  if (!document.getElementById('shown').textContent.startsWith('0 of')) return 'does not count';
  find.value = '';
  find.dispatchEvent(new Event('input'));
  if (rows().length !== all) return 'loses rows';
  const pager = document.querySelector('.pager');
  const words = document.getElementById('shown').textContent.split(' ');
  const count = Number(words[0].replaceAll(',', ''));
  if (pager.hidden !== (count === all)) return 'hides rows without a pager';
  const [previous, next] = pager.querySelectorAll('button');
  const seen = new Set(rows());
  while (!pager.hidden && !next.disabled) {
    next.click();
    rows().forEach((r) => seen.add(r));
  }
  if (seen.size !== count) return 'does not page through all rows';
  while (!pager.hidden && !previous.disabled) previous.click();
  scrollTo(0, 0);
  return rows().length === all ? 'sound' : 'does not page back';
})()"""

# The time in milliseconds of a key press in the filter and of a sort, including layout; each is the
# median of seven. The first sort is measured separately, because it prepares data for the others.
COST = r"""(() => {
  const timed = (act) => {
    const began = performance.now();
    act();
    document.body.getBoundingClientRect();
    return performance.now() - began;
  };
  const find = document.getElementById('find');
  const heads = [...document.querySelectorAll('#table thead th button')];
  const cost = { first: 0, filter: [], sort: [] };
  for (const text of ['d', 'do', 'door 1', 'zz', 'berlin', '1', '']) {
    cost.filter.push(timed(() => {
      find.value = text;
      find.dispatchEvent(new Event('input'));
    }));
  }
  heads.forEach((head) => { cost.first = Math.max(cost.first, timed(() => head.click())); });
  for (const head of heads.slice(0, 7)) cost.sort.push(timed(() => head.click()));
  const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
  return [median(cost.filter), median(cost.sort), cost.first, Math.max(...cost.filter)];
})()"""
# The maximum factor of the cost for ten times the devices.
RATIO_MAXIMUM = 12
# The limit of a task in milliseconds: 200 on an idle machine, 400 on a loaded machine.
TASK_MAXIMUM = 200 if os.getloadavg()[0] < (os.cpu_count() or 1) else 400

WIDE = "document.documentElement.scrollWidth + ' of ' + innerWidth"
FITS = "document.documentElement.scrollWidth <= innerWidth"


def look(browser, page, pictures):
    """Returns the complaints about one page, at every size."""
    address = page.resolve().as_uri()
    found = []

    def say(where, text):
        found.append(f"{page.name}, {where}: {text}")

    for width, theme in ((360, "light"), (1280, "light"), (360, "dark"), (1280, "dark")):
        where = f"{width} px, {theme}"
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                     deviceScaleFactor=1, mobile=False)
        browser.call("Emulation.setEmulatedMedia", media="screen",
                     features=[{"name": "prefers-color-scheme", "value": theme}])
        browser.open(address)
        if browser.value(FITS) is not True:
            say(where, f"too wide, {browser.value(WIDE)}")
        if width == 1280 and theme == "light":
            for name, expression in SOUND.items():
                if browser.value(expression) is not True:
                    say(where, f"condition not met: {name}")
        if pictures:
            shot = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip={
                "x": 0, "y": 0, "width": width, "scale": 1, "height":
                    min(browser.value("document.documentElement.scrollHeight"), 4200)})
            target = pictures / f"{page.stem}-{width}-{theme}.png"
            target.write_bytes(base64.b64decode(shot["data"]))
        table = browser.value(TABLE) if width == 1280 else "sound"
        if table != "sound":
            say(where, f"the table: {table}")
        for complaint in browser.complaints(address):
            say(where, complaint)

    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(address)
    plain = browser.call("DOM.getDocument", depth=0)["root"]["nodeId"]
    rows = browser.call("DOM.querySelectorAll", nodeId=plain, selector="#table tbody tr")["nodeIds"]
    if not rows:
        say("without JavaScript", "there is no table")
    for row in rows[:1] + rows[-1:]:
        if not browser.call("DOM.getBoxModel", nodeId=row)["model"]["height"]:
            say("without JavaScript", "a part of the table is not seen")
    for complaint in browser.complaints(address):
        if "script" not in complaint.lower():
            say("without JavaScript", complaint)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    browser.open(address)
    paper = browser.call("Page.printToPDF", patience=PAPER, preferCSSPageSize=True, printBackground=True,
                         transferMode="ReturnAsBase64")
    document = base64.b64decode(paper["data"])
    if not document.startswith(b"%PDF-") or len(document) < 5000:
        say("on paper", "no document")
    if pictures:
        (pictures / f"{page.stem}.pdf").write_bytes(document)
    for complaint in browser.complaints(address):
        say("on paper", complaint)
    return found


def load_task(browser, page):
    """Returns the CPU time, in milliseconds, of the longest task while a page is opened."""
    def opened():
        browser.open(page.resolve().as_uri())
        # Layout follows the load event, and is complete two frames later.
        browser.call("Runtime.evaluate", awaitPromise=True, expression="""new Promise((done) =>
            requestAnimationFrame(() => requestAnimationFrame(done)))""")
    return browser.longest_task(opened)


def costs(browser, small, large):
    """Returns the complaints about the cost of a large table, compared with the cost of a tenth of the
    table in the same browser."""
    figures = {}
    for page in (small, large):
        browser.open(page.resolve().as_uri())
        rounds = [browser.value(COST) for _ in range(3)]
        figures[page] = [min(column) for column in zip(*rounds)]
        figures[page].insert(2, min(load_task(browser, page) for _ in range(3)))
        words = ("filter {:.1f} ms, sort {:.1f} ms, longest task of the load {:.1f} ms, first sort {:.1f} ms, "
                 "slowest filter {:.1f} ms")
        print(f"{page.name}: " + words.format(*figures[page]), flush=True)
    found = []
    # The resolution of the clock is a tenth of a millisecond.
    for name, few, many in zip(("filter", "sort", "load"), figures[small], figures[large]):
        if many / max(few, 0.1) > RATIO_MAXIMUM:
            found.append(f"{name}: {many:.1f} ms, but {few:.1f} ms for a tenth of the devices")
    slowest = max(figures[large])
    if slowest > TASK_MAXIMUM:
        found.append(f"{large.name}: a task of {slowest:.0f} ms")
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    pages = sorted(folder.glob("*.html"))
    if not pages:
        sys.exit(f"no report in {folder}")
    found = []
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            for page in pages:
                began = time.monotonic()
                found += look(browser, page, pictures)
                print(f"{page.name}: {page.stat().st_size:,} bytes, "
                      f"{time.monotonic() - began:.1f} s", flush=True)
            small, large = folder / "thousand.html", folder / "ten-thousand.html"
            if small in pages and large in pages:
                found += costs(browser, small, large)
        finally:
            browser.close()
    for complaint in found:
        print(f"FAILED {complaint}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
