# SPDX-License-Identifier: Apache-2.0
import pathlib
import tomllib

_project = tomllib.loads((pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]

project = _project["name"]
release = version = _project["version"]
author = "the se_cy authors"
copyright = author

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
# Results are kept as they were printed, by machine and date, and are no pages.
exclude_patterns = ["results"]
nitpicky = True
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"{project} {release}"
