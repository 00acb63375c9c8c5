"""What is wrong with built pages: links that lead nowhere, files fetched from the network."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHES = re.compile(r"""(url\(|@import)\s*["']?(https?:)?//""")
FETCHED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class PageReader(HTMLParser):
    """Reads the links, the anchors and the fetched files of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if FETCHED.get(tag) in values:
            self.fetched.append(values[FETCHED[tag]])


def faults(folder: Path) -> Iterator[str]:
    """Return what is wrong with the pages of a folder, one line each."""
    pages = {p.resolve(): PageReader(p.read_text(encoding="utf-8")) for p in folder.rglob("*.html")}
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if link in page.fetched:
                    yield f"{name} would fetch {link} from the network"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name} links to {link}, which is not there"
            elif target in pages and unquote(parts.fragment) not in {"", *pages[target].anchors}:
                yield f"{name} links to {link}, and there is no such place on that page"
    for style in folder.rglob("*.css"):
        if FETCHES.search(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(folder)} would fetch from the network"
