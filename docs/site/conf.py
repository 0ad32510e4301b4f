# The site that `make docs` builds of the Markdown files, which are also read as they are.
# https://www.sphinx-doc.org/en/master/usage/configuration.html
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

project = "ovn-central operator"
copyright = "The ovn-central operator's authors"
author = copyright

extensions = ["myst_parser", "sphinx_copybutton"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "tests/system/*/README.md"]
exclude_patterns = ["docs/site"]
source_suffix = {".md": "markdown"}

# Links to headings, as GitHub makes their anchors.
myst_heading_anchors = 4

html_theme = "furo"
html_title = project
html_favicon = "../../icon.svg"
repository = "https://github.com/ovn-central/ovn-central-operator/"
html_theme_options = {
    "source_repository": repository,
    "source_branch": "main",
    "source_directory": "",
    "footer_icons": [{"name": "Report a problem", "url": repository + "issues", "html": "Report a problem", "class": ""}],
}
html_show_sphinx = False
html_copy_source = False
# The same sources give the same bytes.
html_last_updated_fmt = None
html_static_path = ["static"]
html_extra_path = ["root"]  # the start page, beside docs/
html_css_files = ["site.css"]
html_js_files = ["findings.js"]
html_search_scorer = str(Path(__file__).parent / "scorer.js")

# What is copied is what one types.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True

# The player of the demo's recording, if `make docs` could get it.
player = Path(__file__).parents[2] / "build" / "player"
if player.is_dir():
    recording = (Path(__file__).parents[1] / "tutorial" / "demo.cast").read_text()
    (player / "recording.js").write_text(f"const recording = {json.dumps(recording)};\n")
    html_static_path += [str(player)]

# Blocks without a language are output; Sphinx would guess Python.
highlight_language = "none"
# Text in a block that is not of its language, such as `…`, is no error.
suppress_warnings = ["misc.highlighting_failure"]

CONTENTS = """

```{toctree}
:hidden:
:caption: Learn
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
/CHANGELOG
/SECURITY
```

```{toctree}
:hidden:
:caption: Explanation
:glob:

explanation/*
```

```{toctree}
:hidden:
:caption: For engineers
:glob:

/ARCHITECTURE
/CONTRIBUTING
README </README>
adr/README
reports/*
/tests/system/*/README
```
"""

DECISIONS = """

```{toctree}
:glob:

0*
```
"""

# Pages for engineers, which a search of an operator does not find.
NOT_SEARCHED = ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "README", "docs/adr/", "docs/reports/", "tests/")
NO_SEARCH = "---\nnosearch: true\n---\n\n"


def prepare(_app, docname, source):
    """The sidebar and the search, of which the Markdown files need to know nothing."""
    if docname == root_doc:
        source[0] += CONTENTS
    if docname == "docs/adr/README":
        source[0] += DECISIONS
    if docname.startswith(NOT_SEARCHED):
        source[0] = NO_SEARCH + source[0]


# What people search for, by the section that answers it in other words. An alert leads to its runbook.
ANSWERS = {
    "docs/how-to/remove-a-unit.md#if-the-unit-stays-in-error": ["hook failed stop", 'hook failed: "stop"'],
    "docs/how-to/remove-a-unit.md#the-last-units": ["uninstall"],
    "docs/reference/findings.md#disk-full": ["no space left on device"],
}
for rules in sorted((Path(__file__).parents[2] / "internal" / "monitoring" / "content").glob("*alerts.json")):
    for group in json.loads(rules.read_text())["groups"]:
        for rule in group["rules"]:
            ANSWERS.setdefault(rule["annotations"]["runbook_url"], []).append(rule["alert"])


class PlainWords(SphinxTransform):
    """Plain words, and alerts, lead the search to a heading: "lacks entries" to the finding FILE_LACKS_ENTRIES."""

    default_priority = 500

    def apply(self, **_kwargs):
        page = self.env.docname + ".md"
        for section in self.document.findall(nodes.section):
            place = page if section.parent is self.document else f"{page}#{section['ids'][0]}"
            words = list(ANSWERS.get(place, []))
            code = section[0].astext()
            if page == "docs/reference/findings.md" and re.fullmatch(r"[A-Z_]+", code):
                words += [code.replace("_", " ").lower(), "OVNCentral" + code.title().replace("_", "")]  # its alert
                words += [n.astext() for n in section[1].findall(nodes.literal)]
            if words:
                entries = [("single", w, section["ids"][0], "", None) for w in words]
                section.insert(1, addnodes.index(entries=entries, inline=False))


def play(app, pagename, _template, _context, _doctree):
    """The demo plays in the page that repeats it by hand."""
    if pagename == "docs/tutorial/first-look" and player.is_dir():
        app.add_css_file("asciinema-player.css")
        for name in ("asciinema-player.min.js", "recording.js", "demo.js"):
            app.add_js_file(name)


def bundle(app, exception):
    """Debian 12's furo has its two scripts apart, joined by an import that no browser takes from a plain script."""
    scripts = Path(app.outdir) / "_static" / "scripts"
    script = scripts / "furo.js"
    if exception or not script.is_file():
        return
    first, _, rest = script.read_text().partition("\n")
    if first.startswith("import Gumshoe"):
        script.write_text((scripts / "gumshoe-patched.js").read_text() + "\n" + rest)


DARK = re.compile(r'^ *(?:html )?body\[data-theme="dark"\](?! \.theme-toggle)[^{]*\{[^}]*\}', re.MULTILINE)


def follow(app, exception):
    """Debian 12's furo is dark only if one clicks for it. Here it is also dark if the browser asks for that."""
    for name in ("styles/furo.css", "pygments.css"):
        style = Path(app.outdir) / "_static" / name
        if exception or not style.is_file() or "prefers-color-scheme" in style.read_text():
            continue
        rules = "\n".join(DARK.findall(style.read_text())).replace('"dark"', '"auto"')
        with style.open("a") as f:
            f.write("\n@media not print { @media (prefers-color-scheme: dark) {\n" + rules + "\n} }\n")


def setup(app):
    app.connect("build-finished", follow)
    app.connect("build-finished", bundle)
    app.connect("html-page-context", play)
    app.connect("source-read", prepare)
    app.add_transform(PlainWords)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
