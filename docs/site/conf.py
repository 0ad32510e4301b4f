# The site that `make docs` builds of the Markdown files, which are also read as they are.
# https://www.sphinx-doc.org/en/master/usage/configuration.html

project = "ovn-central operator"
copyright = "The ovn-central operator's authors"
author = copyright

extensions = ["myst_parser"]
root_doc = "docs/README"
include_patterns = ["*.md", "docs/**", "tests/system/*/README.md"]
exclude_patterns = ["docs/site"]
source_suffix = {".md": "markdown"}

# Links to headings, as GitHub makes their anchors.
myst_heading_anchors = 4

html_theme = "alabaster"
html_title = project
html_theme_options = {"page_width": "1100px", "sidebar_width": "260px", "description": "OVN's control plane under Juju"}
html_show_sphinx = False
html_copy_source = False
# The same sources give the same bytes.
html_last_updated_fmt = None

# Blocks without a language are output; Sphinx would guess Python.
highlight_language = "none"
# A hint of what else stands in the block, such as `…`, is no error.
suppress_warnings = ["misc.highlighting_failure"]

CONTENTS = """

```{toctree}
:hidden:
:caption: Tutorial
:glob:

tutorial/*
```

```{toctree}
:hidden:
:caption: How-to
:glob:

how-to/*
```

```{toctree}
:hidden:
:caption: Reference
:glob:

reference/*
```

```{toctree}
:hidden:
:caption: Explanation
:glob:

explanation/*
```

```{toctree}
:hidden:
:caption: Project
:glob:

/*
/tests/system/*/README
```
"""


def add_contents(_app, docname, source):
    """The sidebar, of which the Markdown files need to know nothing."""
    if docname == root_doc:
        source[0] += CONTENTS


def setup(app):
    app.connect("source-read", add_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
