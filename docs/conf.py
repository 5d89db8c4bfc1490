"""Settings of the documentation site: ``sphinx-build -W --keep-going docs build/site``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_tools"))

from anchor_align import __version__

project = "anchor-align"
author = "The anchor-align developers"
version = release = __version__
html_title = f"anchor-align {release}"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "mathml",
    "navigation",
    "page_looks",
    "repository_files",
]
exclude_patterns = ["_tools"]
nitpicky = True
# Docstrings quote what one types.
smartquotes = False

# Links to headings, as code hosts make them; math between dollars, as they show it.
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

# The docstrings say types in words, with shapes and defaults.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# scikit-learn adds these to every estimator.
autodoc_default_options = {"exclude-members": "set_fit_request, set_predict_request, set_transform_request"}
numpydoc_show_class_members = False

# What is copied can be typed: without prompts, and without what a command prints.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
