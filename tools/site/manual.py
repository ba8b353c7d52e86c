"""The manual's pages, made by mandoc."""

import pathlib
import re
import subprocess

from documents import sections
from page import Page, plain


def place(file):
    return f"man/{pathlib.Path(file).name}.html"


def page(file):
    body = subprocess.run(
        ["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", str(file)],
        check=True, capture_output=True, encoding="utf-8").stdout
    # Its own head and foot, and a permalink in each heading, which the frame does without.
    body = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", body, flags=re.DOTALL)
    body = re.sub(r'<a class="permalink" href="[^"]*">(.*?)</a>', r"\1", body, flags=re.DOTALL)
    body = re.sub(r'<br/>', "<br>", body)
    for level in (2, 1):  # the page's title is the first heading
        body = re.sub(rf"<(/?)h{level}\b", rf"<\1h{level + 1}", body)
    # Pages of other programs are not here.
    folder = pathlib.Path(file).parent
    body = re.sub(
        r'<a class="Xr" href="([^"]*)\.html">(.*?)</a>',
        lambda found: found[0] if (folder / found[1]).exists() else found[2], body)
    body = body.replace('<pre class="Li">', "<pre>").replace("<pre>", '<pre tabindex="0">')
    name, section = pathlib.Path(file).name.rsplit(".", 1)
    headings = [(2, anchor, plain(text).capitalize()) for anchor, text in
                re.findall(r'<h2 class="Sh" id="([^"]*)">(.*?)</h2>', body, re.DOTALL)]
    title = f"{name}({section})"
    body = f"<h1>{title}</h1>{body}"
    # Options and keys are found by themselves.
    found = sections(body, title, tags="h[1-4]|dt")
    return Page(place(file), title, body, found, "Manual", headings, "manual")


def label(file):
    """`flash` for otaflash-flash.1, `otaflash(1)` for the overview."""
    name, section = pathlib.Path(file).name.rsplit(".", 1)
    if name == "otaflash":
        return f"otaflash({section})"
    word = name.removeprefix("otaflash-").replace("-", " ", 1)
    return word if section == "1" else f"{word}({section})"
