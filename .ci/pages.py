"""Draw pages of the built site in headless Chromium without a network, and tell what is amiss.

python3 .ci/pages.py                 24 pages, drawn by a seed
python3 .ci/pages.py --count 0       all of them
python3 .ci/pages.py --seed 2        others

Told are formulas that are not typeset or do not fit, pictures that are not there, and errors of
the console. Build the site first: ``python3 dev.py docs``.
"""

import argparse
import html
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "docs" / "_build" / "html"
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or ""
OPTIONS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--window-size=1300,1600"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000"),
    "--enable-logging=stderr",
]
LOOK = """<script>
window.addEventListener("load", async () => {
  if (window.MathJax) await MathJax.startup.promise;
  const all = (what) => [...document.querySelectorAll(what)];
  const raw = (x) => !x.querySelector("mjx-container");
  const wide = (x) => x.scrollWidth > x.clientWidth + 1;
  const amiss = {
    "formulas not typeset": all("div.math, span.math").filter(raw),
    "formulas with errors": all("mjx-merror"),
    "formulas that do not fit": all("div.math").filter(wide),
    "pictures not there": all("img").filter(x => x.complete && !x.naturalWidth),
  };
  const told = Object.entries(amiss).filter(([what, found]) => found.length);
  const lines = told.map(([what, found]) => `${found.length} ${what}`);
  document.body.dataset.amiss = JSON.stringify(lines);
});
</script></body>"""


def faults(page: Path) -> list[str]:
    """Return what is amiss with a page as the browser draws it."""
    looked = page.with_name(f"drawn-{page.name}")  # beside it, so that its links hold
    looked.write_text(page.read_text(encoding="utf-8").replace("</body>", LOOK), encoding="utf-8")
    try:
        drawn = subprocess.run(
            [BROWSER, *OPTIONS, looked.as_uri()], capture_output=True, text=True, check=False
        )
    finally:
        looked.unlink()
    found = re.search(r'data-amiss="([^"]*)"', drawn.stdout)
    told = json.loads(html.unescape(found[1])) if found else ["not drawn"]
    return told + [line for line in drawn.stderr.splitlines() if "CONSOLE" in line]


def main() -> int:
    """Draw the pages; return 1 where something is amiss."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    pages = sorted(SITE.rglob("*.html"))
    if not BROWSER or not pages:
        sys.exit("install Chromium" if pages else f"no pages in {SITE}: run python3 dev.py docs")
    chosen = random.Random(given.seed).sample(pages, given.count) if given.count else pages
    amiss = {page: faults(page) for page in sorted(chosen)}
    for page, told in amiss.items():
        print(page.relative_to(SITE), *(told or ["fine"]), sep=": " if not told else "\n    ")
    return int(any(amiss.values()))


if __name__ == "__main__":
    sys.exit(main())
