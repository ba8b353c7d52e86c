"""Markdown documents of the tree as pages; their links lead to pages, or to files of the tree."""

import html
import pathlib
import posixpath
import re

import markdown_it
import pygments
import pygments.formatters
import pygments.lexers
import pygments.util

from page import Page, plain, relative, slug

TEXT_MAXIMUM = 3000  # the number of characters of a section that the search reads
FORMATTER = pygments.formatters.HtmlFormatter(nowrap=True)


class DeadLink(Exception):
    """The error of a document that links to a missing file."""


def highlighted(code, language):
    if not language:
        # Mostly lines for a shell: comments are dimmed.
        lines = re.sub(r"(?m)(^|\s\s)(# .*)$", "\\1\x01\\2\x02", code)
        return html.escape(lines).replace("\x01", '<span class="c1">').replace("\x02", "</span>")
    try:
        lexer = pygments.lexers.get_lexer_by_name({"dts": "c"}.get(language, language))
    except pygments.util.ClassNotFound:
        return html.escape(code)
    return pygments.highlight(code, lexer, FORMATTER)


def block(code, language=""):
    return f'<pre tabindex="0"><code>{highlighted(code, language)}</code></pre>\n'


class Documents:
    """Converts documents to pages, and records the files to which they link."""

    def __init__(self, root, paths, places):
        self.root = pathlib.Path(root)
        self.places = dict(places)  # maps a path in the tree to a path in the site
        self.places.update({path: path.removesuffix(".md") + ".html" for path in paths})
        self.files = set()  # linked files that are not documents, shown unchanged
        self.folders = set()
        self.assets = set()  # pictures and other binary files

    def place(self, target, document):
        """Returns the address, in the site, of the target of a link in a document; records the target."""
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document), path)) if path else document
        anchor = "#" + anchor if anchor else ""
        if path in self.places:
            return self.places[path] + anchor
        file = self.root / path
        if file.is_dir():
            if f"{path}/README.md" in self.places:
                return self.places[f"{path}/README.md"] + anchor
            self.folders.add(path)
            return f"source/{path}/index.html"
        if not file.is_file() or path.startswith(".."):
            raise DeadLink(f"{document} links to {target}, which does not exist")
        if file.suffix in (".svg", ".png") or b"\0" in file.read_bytes():
            self.assets.add(path)
            return path
        self.files.add(path)
        return f"source/{path}.html"

    def page(self, document, crumb=""):
        path = self.places[document]
        text = (self.root / document).read_text(encoding="utf-8")
        parser = markdown_it.MarkdownIt("commonmark", {"html": False}).enable("table")
        tokens = parser.parse(text)
        taken, headings = set(), []
        for index, token in enumerate(tokens):
            if token.type == "heading_open":
                words = plain(parser.renderer.render(tokens[index + 1:index + 2], parser.options, {}))
                token.attrSet("id", slug(words, taken))
                headings.append((int(token.tag[1]), token.attrGet("id"), words))
            for child in token.children or []:
                name = {"link_open": "href", "image": "src"}.get(child.type)
                address = child.attrGet(name) if name else None
                if address and not re.match(r"[a-z]+:", address):
                    child.attrSet(name, relative(self.place(address, document), path))

        def fence(_renderer, tokens, index, *_):
            return block(tokens[index].content, tokens[index].info.strip())

        parser.add_render_rule("fence", fence)
        parser.add_render_rule("code_block", fence)
        parser.add_render_rule("table_open", lambda *_: '<div class="wide" tabindex="0"><table>\n')
        parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
        body = parser.renderer.render(tokens, parser.options, {})
        title = headings[0][2] if headings else document
        page = Page(path, title, body, crumb=crumb, toc=headings)
        page.sections = sections(body, title)
        return page

    def source(self, path):
        """Returns the page of a file that is not a document, with its unchanged text."""
        text = (self.root / path).read_text(encoding="utf-8")
        language = {".swift": "swift", ".c": "c", ".h": "c", ".json": "json", ".yaml": "yaml",
                    ".sh": "bash", ".py": "python", ".csv": "", ".overlay": "dts"}
        body = (f"<h1><code>{html.escape(posixpath.basename(path))}</code></h1>"
                + block(text, language.get(posixpath.splitext(path)[1], "")))
        return Page(f"source/{path}.html", path, body, [("", path, "")], posixpath.dirname(path),
                    kind="source")

    def folder(self, path):
        """Returns the page of a folder without a README: links to its files."""
        names = sorted(
            entry.name + ("/" if entry.is_dir() else "") for entry in (self.root / path).iterdir()
            if not entry.name.startswith(".") and entry.name != "__pycache__")
        own = f"source/{path}/index.html"
        items = []
        for name in names:
            target = relative(self.place(name.rstrip("/"), path + "/x"), own)
            items.append(f'<li><a href="{html.escape(target)}"><code>{html.escape(name)}</code></a></li>')
        body = f"<h1><code>{html.escape(path)}/</code></h1><ul>{''.join(items)}</ul>"
        return Page(own, path + "/", body, [("", path, " ".join(names))], posixpath.dirname(path),
                    kind="source")


def sections(body, title, tags="h[1-4]"):
    """Returns the search entries of a page: each heading with the text below it, and each row of the tables of a section
    that is too long for the search.
    """
    parts = re.split(rf'<(?:{tags})[^>]* id="([^"]*)"[^>]*>(.*?)</(?:{tags})>', body, flags=re.DOTALL)
    found = [("", title, plain(parts[0]))]
    for index in range(1, len(parts), 3):
        anchor, heading, text = parts[index:index + 3]
        words = plain(heading)
        if words == title:
            found[0] = ("", title, found[0][2] + " " + plain(text))
        else:
            found.append((html.unescape(anchor), f"{title} › {words}", plain(text)))
        if len(plain(text)) > TEXT_MAXIMUM:
            for row in re.findall(r"<tr>\s*<td>(.*?)</tr>", text, flags=re.DOTALL):
                first = plain(row.partition("</td>")[0])
                found.append((html.unescape(anchor), f"{title} › {first}", plain(row)))
    return found
