"""The documentation of the libraries, from the page data in DocC's archives.

DocC's own site is an application that needs a web server. These are plain pages: one for each
type, with its members, one for each module and article.
"""

import html
import json
import pathlib
import posixpath
import re

from documents import block
from page import Page, plain, relative, slug

# Kinds of symbols with a page; other symbols are described on the page of their type.
TYPES = {"module", "struct", "class", "enum", "protocol", "actor"}


class Library:
    """All archives together, so that the pages of a module can link to symbols of other modules."""

    def __init__(self, archives):
        self.nodes = {}  # by DocC's address
        for archive in sorted(pathlib.Path(archives).glob("*.doccarchive")):
            data = archive / "data"
            for file in sorted(data.rglob("*.json")):
                address = "/" + str(file.relative_to(data)).removesuffix(".json")
                if address.startswith("/documentation/"):
                    node = json.loads(file.read_text(encoding="utf-8"))
                    node["module"] = archive.stem
                    self.nodes[address] = node
        self.places = {}
        for address in sorted(self.nodes):
            if self.has_page(address):
                self.places[address] = self.own_place(address)
        anchors = {}
        for address in sorted(self.nodes):
            if address not in self.places and (owner := self.owner(address)):
                taken = anchors.setdefault(owner, set())
                anchor = slug(self.title(address).replace(":", "-"), taken)
                self.places[address] = f"{self.places[owner]}#{anchor}"

    def has_page(self, address):
        metadata = self.nodes[address]["metadata"]
        return metadata.get("symbolKind") in TYPES or metadata.get("role") not in (
            "symbol", "collectionGroup")

    def owner(self, address):
        """Returns the nearest enclosing symbol with a page."""
        while address := posixpath.dirname(address).rstrip("/"):
            if address in self.places and "#" not in self.places[address]:
                return address
        return None

    def own_place(self, address):
        """Returns the address of a page, such as library/OtaflashGATT/GATTClient.Subscription.html."""
        node = self.nodes[address]
        words = node["identifier"]["url"].split("/")[4:]
        name = ".".join(words[1:] if words and words[0] == node["module"] else words) or "index"
        return f"library/{node['module']}/{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}.html"

    def title(self, address):
        return self.nodes[address]["metadata"].get("title", posixpath.basename(address))

    def modules(self):
        """Returns the name and place of each module."""
        return sorted(
            (self.title(address), self.places[address]) for address, node in self.nodes.items()
            if node["metadata"].get("symbolKind") == "module")

    def articles(self):
        """Returns the title and place of each article."""
        return [(self.title(address), self.places[address]) for address in self.sources().values()
                if self.nodes[address]["metadata"].get("role") == "article"]

    def sources(self):
        """Returns the documents in the tree from which pages are generated."""
        found = {}
        for address, node in sorted(self.nodes.items()):
            folder = f"Sources/{node['module'].removeprefix('Otaflash')}/Documentation.docc"
            if node["metadata"].get("symbolKind") == "module":
                found[f"{folder}/Documentation.md"] = address
            elif node["metadata"].get("role") == "article":
                found[f"{folder}/{node['identifier']['url'].rpartition('/')[2]}.md"] = address
        return found

    def pages(self):
        return [Sheet(self, address).page() for address in sorted(self.nodes) if self.has_page(address)]


class Sheet:
    """One page under construction."""

    def __init__(self, library, address):
        self.library = library
        self.address = address
        self.place = library.places[address]
        self.node = library.nodes[address]
        self.sections = []
        self.toc = []
        self.taken = {place.partition("#")[2] for place in library.places.values()
                      if place.startswith(self.place + "#")}

    def page(self):
        metadata, title = self.node["metadata"], self.library.title(self.address)
        body = [f"<h1>{html.escape(title)}</h1>", self.summary(self.node)]
        body.append(self.content_of(self.node, level=1))
        self.sections.append(("", self.qualified(title), plain(" ".join(body[1:]))))
        for topic in self.node.get("topicSections", []):
            body.append(self.topic(topic, self.node))
        kind = "Module" if metadata.get("symbolKind") == "module" else metadata.get("roleHeading")
        crumb = " · ".join([self.node["module"]] + ([kind] if kind else []))
        return Page(self.place, title, "\n".join(body), self.sections, crumb, self.toc, "library")

    def qualified(self, title):
        return title if self.node["metadata"].get("symbolKind") == "module" else \
            f"{title} ({self.node['module']})"

    def summary(self, node):
        abstract = self.inline(node.get("abstract", []), node)
        return f'<p class="abstract">{abstract}</p>' if abstract else ""

    # The content of a symbol: declaration, parameters, discussion.

    def content_of(self, node, level):
        parts = []
        for section in node.get("primaryContentSections", []):
            kind = section["kind"]
            if kind == "declarations":
                parts += [self.declaration(one["tokens"], node) for one in section["declarations"][:1]]
            elif kind == "parameters":
                rows = "".join(
                    f"<dt><code>{html.escape(one['name'])}</code></dt>"
                    f"<dd>{self.blocks(one['content'], node, level)}</dd>"
                    for one in section["parameters"])
                parts.append(f'<dl class="parameters">{rows}</dl>')
            else:
                content = section.get("content", [])
                if content and content[0].get("text") in ("Overview", "Discussion"):
                    # DocC adds this heading above the headings of the author.
                    content = [one | {"level": one["level"] - 1} if one["type"] == "heading" else one
                               for one in content[1:]]
                parts.append(self.blocks(content, node, level))
        return "\n".join(parts)

    def declaration(self, tokens, node):
        kinds = {"keyword": "k", "attribute": "k", "typeIdentifier": "nc", "number": "mi", "string": "s"}
        parts = []
        for token in tokens:
            text = html.escape(token["text"])
            if token.get("identifier"):
                text = self.link(token["identifier"], node, text) or text
            name = kinds.get(token["kind"])
            parts.append(f'<span class="{name}">{text}</span>' if name else text)
        return f'<pre class="declaration" tabindex="0"><code>{"".join(parts)}</code></pre>'

    # The lists of a page.

    def topic(self, topic, node):
        children = [address for address in map(lambda i: self.address_of(i, node), topic["identifiers"])
                    if address]
        if not children:
            return ""
        anchor = slug(topic["title"], self.taken)
        self.toc.append((2, anchor, topic["title"]))
        parts = [f'<h2 id="{anchor}">{html.escape(topic["title"])}</h2>']
        listed = [child for child in children if "#" not in self.library.places[child]]
        if listed:
            rows = "".join(
                f"<dt>{self.anchor(child)}</dt>"
                f"<dd>{self.inline(self.library.nodes[child].get('abstract', []), self.library.nodes[child])}</dd>"
                for child in listed)
            parts.append(f'<dl class="symbols">{rows}</dl>')
        parts += [self.member(child) for child in children if child not in listed]
        return "\n".join(parts)

    def anchor(self, address):
        target = relative(self.library.places[address], self.place)
        return f'<a href="{html.escape(target)}"><code>{html.escape(self.library.title(address))}</code></a>'

    def member(self, address):
        node, place = self.library.nodes[address], self.library.places[address]
        page, _, anchor = place.partition("#")
        if page != self.place:
            return f"<p>{self.anchor(address)}</p>"
        title = self.library.title(address)
        if node["metadata"].get("role") == "collectionGroup":
            inner = "".join(self.topic(one, node) for one in node.get("topicSections", []))
            return f'<section id="{html.escape(anchor)}">{inner}</section>'
        words = self.summary(node)
        content = self.content_of(node, level=3)
        name = title if "." in title else f"{self.library.title(self.address)}.{title}"
        self.sections.append((anchor, self.qualified(name), plain(words)))
        self.toc.append((3, anchor, title))
        return (f'<section class="member" id="{html.escape(anchor)}">'
                f"<h3><code>{html.escape(title)}</code></h3>{words}{content}</section>")

    # DocC's blocks and inline elements (its render node schema).

    def blocks(self, content, node, level):
        return "\n".join(self.block(one, node, level) for one in content)

    def block(self, one, node, level):
        kind = one["type"]
        if kind == "paragraph":
            return f"<p>{self.inline(one['inlineContent'], node)}</p>"
        if kind == "heading":
            rank = min(max(one["level"], level + 1), 6)
            anchor = slug(one["text"], self.taken)
            if level == 1:
                self.toc.append((rank, anchor, one["text"]))
            return f'<h{rank} id="{anchor}">{html.escape(one["text"])}</h{rank}>'
        if kind == "codeListing":
            return block("\n".join(one["code"]), one.get("syntax") or "")
        if kind in ("unorderedList", "orderedList"):
            tag = "ul" if kind == "unorderedList" else "ol"
            items = "".join(f"<li>{self.blocks(item['content'], node, level)}</li>" for item in one["items"])
            return f"<{tag}>{items}</{tag}>"
        if kind == "aside":
            name = html.escape(one.get("name") or one["style"].capitalize())
            return f"<aside><p><strong>{name}</strong></p>{self.blocks(one['content'], node, level)}</aside>"
        if kind == "table":
            rows = "".join(
                "<tr>" + "".join(
                    f"<{tag}>{self.blocks(cell, node, level)}</{tag}>" for cell in row) + "</tr>"
                for row, tag in zip(one["rows"], ["th"] + ["td"] * len(one["rows"])))
            return f'<div class="wide" tabindex="0"><table>{rows}</table></div>'
        if kind == "termList":
            return "<dl>" + "".join(
                f"<dt>{self.inline(item['term']['inlineContent'], node)}</dt>"
                f"<dd>{self.blocks(item['definition']['content'], node, level)}</dd>"
                for item in one["items"]) + "</dl>"
        if kind == "links":
            return "<ul>" + "".join(
                f"<li>{self.link(item, node) or html.escape(item)}</li>" for item in one["items"]) + "</ul>"
        if kind == "thematicBreak":
            return "<hr>"
        if "content" in one:
            return self.blocks(one["content"], node, level)
        raise ValueError(f"{self.address}: DocC has a block of kind {kind}, which is not supported")

    def inline(self, content, node):
        parts = []
        for one in content:
            kind = one["type"]
            if kind == "text":
                parts.append(html.escape(one["text"]))
            elif kind == "codeVoice":
                parts.append(f"<code>{html.escape(one['code'])}</code>")
            elif kind in ("emphasis", "strong", "newTerm", "inlineHead"):
                tag = {"emphasis": "em", "newTerm": "em"}.get(kind, "strong")
                parts.append(f"<{tag}>{self.inline(one['inlineContent'], node)}</{tag}>")
            elif kind in ("reference", "link"):
                parts.append(self.reference(one, node))
            elif kind != "image":
                raise ValueError(f"{self.address}: DocC has {kind} in a line, which is not supported")
        return "".join(parts)

    def reference(self, one, node):
        text = self.inline(one["overridingTitleInlineContent"], node) \
            if one.get("overridingTitleInlineContent") else None
        if one["type"] == "link":
            address = one["destination"]
            return f'<a href="{html.escape(address)}">{text or html.escape(one.get("title", address))}</a>'
        target = node["references"].get(one["identifier"], {})
        if target.get("type") == "link":
            return f'<a href="{html.escape(target["url"])}">{text or html.escape(target["title"])}</a>'
        name = html.escape(target.get("title", one["identifier"].rpartition("/")[2]))
        if target.get("kind") == "symbol":
            name = f"<code>{name}</code>"
        return self.link(one["identifier"], node, text or name) or text or name

    def address_of(self, identifier, node):
        address = node.get("references", {}).get(identifier, {}).get("url", "").lower()
        return address if address in self.library.places else None

    def link(self, identifier, node, text=None):
        address = self.address_of(identifier, node)
        if not address:
            return None
        target = relative(self.library.places[address], self.place)
        text = text or html.escape(self.library.title(address))
        return f'<a href="{html.escape(target)}">{text}</a>'
