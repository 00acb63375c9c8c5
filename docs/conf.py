"""Sphinx's settings of the documentation, which ``python3 dev.py docs`` builds."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "nsopt"
author = "The nsopt team"
version = release = installed("nsopt")

extensions = [
    "copied_pages",
    "notebook_pages",
    "api_pages",
    "name_links",
    "check_links",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "tutorials/download"]
default_role = "literal"
highlight_language = "none"

html_theme = "furo"
html_title = "nsopt"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["nsopt.css"]
html_show_copyright = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_execution_in_temp = True
nb_merge_streams = True
nb_output_stderr = "remove"
# Cells that draw end with a legend or a label, whose names say nothing.
nb_mime_priority_overrides = [("html", "text/plain", None)]
suppress_warnings = ["mystnb.mime_priority"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
