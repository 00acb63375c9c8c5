"""Sphinx's settings of the documentation, which ``python3 dev.py docs`` builds."""

import sys
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "nsopt"
author = "The nsopt team"
version = release = installed("nsopt")

# MathJax is served from the site: its files are those of a package that holds them.
MATHJAX = Path(find_spec("sphinx-mathjax-offline").origin).with_name("static")
OTHER_MATHJAX = ("mathjax/*-full*", "mathjax/*-svg*", "mathjax/mml-*", "mathjax/output/svg**")

extensions = [
    "copied_pages",
    "notebook_pages",
    "gallery_pages",
    "api_pages",
    "name_links",
    "check_links",
    "table_pictures",
    "sphinx.ext.mathjax",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "gallery/**.ipynb", "gallery/**.py", *OTHER_MATHJAX]
default_role = "literal"
highlight_language = "none"

html_theme = "furo"
html_title = "nsopt"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static", str(MATHJAX)]
html_css_files = ["nsopt.css"]
html_favicon = "_static/nsopt.svg"
html_search_scorer = str(Path(__file__).with_name("search_scores.js"))
html_show_copyright = False

mathjax_path = "mathjax/tex-chtml.js"
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 4

nb_execution_mode = "off"  # notebooks hold their outputs
nb_merge_streams = True

GALLERY = ("clearance", "contact", "linkages", "bodies", "optima", "pictures")
sphinx_gallery_conf = {
    "examples_dirs": "../notebooks/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../notebooks/gallery/{name}" for name in GALLERY],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "capture_repr": (),
    "image_scrapers": ("matplotlib", "gallery_pages.films"),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,  # s: how long a script took says little
}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
