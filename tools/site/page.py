"""A page of the site: its content, and the frame around it."""

import dataclasses
import html
import pathlib
import posixpath
import re

HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass
class Page:
    path: str  # relative to the site, with slashes
    title: str
    body: str
    # The search entries: anchor ("" is the page itself), title, text.
    sections: list = dataclasses.field(default_factory=list)
    crumb: str = ""  # the folder of the page, printed above its title
    toc: list = dataclasses.field(default_factory=list)  # (level, anchor, text)
    kind: str = "document"


def plain(markup):
    """Returns the text content of an HTML fragment."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", markup))).strip()


def relative(target, page):
    """Returns the relative address of a place in the site, as seen from a page."""
    path, _, anchor = target.partition("#")
    if path == page:
        return "#" + anchor
    address = posixpath.relpath(path, posixpath.dirname(page) or ".")
    return address + ("#" + anchor if anchor else "")


def slug(text, taken):
    """Returns the anchor of a heading, as GitHub creates it."""
    base = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    taken.add(name)
    return name


def navigation(groups, page):
    parts = []
    for group, entries in groups:
        links = "".join(
            f'<li><a href="{html.escape(relative(path, page.path))}"'
            + (' aria-current="page"' if path == page.path else "")
            + f">{html.escape(label)}</a></li>"
            for label, path in entries)
        dense = ' class="dense"' if len(entries) > 12 else ""
        parts.append(f"<h2>{html.escape(group)}</h2><ul{dense}>{links}</ul>")
    return "".join(parts)


def frame(page, groups):
    """Returns the complete HTML of a page."""
    root = "../" * page.path.count("/")
    toc = ""
    entries = [entry for entry in page.toc if entry[0] in (2, 3)]
    if len(entries) > 60:
        entries = [entry for entry in entries if entry[0] == 2]
    if len(entries) > 2:
        toc = '<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>' + "".join(
            f'<li class="level{level}"><a href="#{html.escape(anchor)}">{html.escape(text)}</a></li>'
            for level, anchor, text in entries) + "</ul></nav>"
    crumb = f'<p class="crumb">{html.escape(page.crumb)}</p>' if page.crumb else ""
    return (HERE / "frame.html").read_text(encoding="utf-8").format(
        title=html.escape(page.title if page.kind == "start" else f"{page.title} · otaflash"),
        root=html.escape(root), kind=page.kind, navigation=navigation(groups, page), crumb=crumb,
        body=page.body, toc=toc)
