"""Pages for the browser, as their player reads them."""

import base64
import re

import msgspec
import numpy as np
import zstandard


class Page:
    """Return the data that the player will read from a page."""

    def __init__(self, text):
        self.text = text
        packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]+)"', text).group(1))
        size = int.from_bytes(packed[:8], "little")
        inner = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=size)
        length = int.from_bytes(inner[:8], "little")
        stored = msgspec.msgpack.decode(inner[8 : 8 + length])
        self.length = stored["durationSeconds"]
        self.messages = stored["messages"]

    def added(self, kind):
        """Return the properties of nodes of a kind, by name."""
        return {m["name"]: m["props"] for _, m in self.messages if m["type"] == kind}

    def last(self, kind, name, key):
        """Return what was last said of a node at each time, as two arrays."""
        said = {t: m[key] for t, m in self.messages if m["type"] == kind and m["name"] == name}
        return np.array(list(said)), np.array(list(said.values()))
