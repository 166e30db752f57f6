# SPDX-License-Identifier: LGPL-2.1-or-later
"""Guards of the documentation: files, code, messages and categories that it names exist, and it lists every element."""
import fnmatch
import os
import posixpath
import re

from guard import guard


@guard("README.md and docs/ show the code of the programs in pipelines/", alone=True)
def shown_code(tree):
    programs = [tree.text(name) for name in tree.names("pipelines/*.cpp")]
    blocks = [(page, block) for page, text in tree.pages.items()
              for block in re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S)]
    strangers = sorted({page for page, block in blocks if not any(block in program for program in programs)})
    if not blocks:
        return "no page shows any C"
    return f"{', '.join(strangers)}: C code that is in no program" if strangers else ""


class Names:
    """The files and folders of a tree, for checking names and links in pages."""

    def __init__(self, tree):
        self.tree = tree
        self.paths = []
        for folder, folders, files in os.walk(tree.top):
            below = "/" + os.path.relpath(folder, tree.top).removeprefix(".")
            if below == "/":
                folders[:] = [one for one in folders if one != ".git" and not one.startswith("build")]
            else:
                below += "/"
            self.paths += [below + name for name in (*(one + "/" for one in folders), *files)]

    def exists(self, name, below="/"):
        """Returns true if a path in the tree ends with this name. Words of four or more capitals, … and * match any text. A
        program may be named without .cpp."""
        name = re.sub(r"(?<![a-zA-Z])[A-Z]{4,}(?![a-zA-Z]|\.md)|…", "*", name)
        return any(fnmatch.fnmatchcase(path, f"*{below}{name}{end}") for path in self.paths for end in ("", "/", ".cpp"))

    def linked(self, page, target):
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        return "://" in target or (self.tree.top / path).exists() and (not anchor or anchor in self.anchors(path))

    def anchors(self, page):
        titles = re.findall(r"^#+ (.*)", self.tree.text(page), re.M)
        return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


@guard("every file that README.md, docs/ and the folders' README.md name exists", alone=True)
def named_files(tree):
    names = Names(tree)
    pages = {**tree.pages, **{page: tree.text(page) for room in ("cuda", "gst", "tests")
                              for page in tree.names(room + "/**/README.md")}}
    strangers = set()
    for page, text in pages.items():
        strangers |= {f"{page}: {target}" for target in re.findall(r"\]\(([^)]+)\)", text) if not names.linked(page, target)}
        blocks = re.compile(r"^ *```.*?^ *```", re.M | re.S)
        named = re.findall(r"(?<![\w/.])(?:tests|pipelines|scripts)/[\w/-]+\.(?:sh|py)\b", "".join(blocks.findall(text)))
        # Leaves out code between **, because it quotes messages, which may begin with the name of another project's file.
        for span in re.findall(r"`([^`]+)`", re.sub(r"\*\*`[^`]+`\*\*", "", blocks.sub("", text))):
            stem, endings = re.fullmatch(r"(.*?)(?:\{([\w,]+)\})?", span.split()[0]).groups()
            named += [stem + ending for ending in (endings or "").split(",")]
        paths = r"(cuda|gst|tests|docs|pipelines|scripts)/|.+\.(cpp|h|cu|cuh|sh|py|md|build|txt|map)$"
        strangers |= {f"{page}: {name}" for name in named if re.match(paths, name) and not names.exists(name)}
        if page.startswith(("cuda/", "gst/", "tests/")):
            # Rows of tables and lists on these pages begin with names of files, often without the extension.
            for cell in re.findall(r"^(?:\| |\d+\. )(`[^|:\n]+)[|:]", text, re.M):
                strangers |= {f"{page}: {name}" for name in re.findall(r"`([\w/]+)`", cell)
                              if not names.exists(name if name.endswith("/") else name + ".*", f"/{posixpath.dirname(page)}/")}
    return ", ".join(sorted(strangers)) if pages else "no pages were found"


# The troubleshooting pages also quote messages of other projects and of the system.
FOREIGN = ("WARNING: erroneous pipeline", "Dependency ", "could not link", "Delayed linking", "Internal data stream",
           "streaming stopped", "…: No such file or directory", "Segmentation fault", "error: XDG_RUNTIME_DIR")


def plain(text):
    return re.sub(r"\s+", " ", text)


def literals(text):
    """Yields the string literals of a source. Adjacent literals are joined, as in the compiler."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
        yield plain("".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run)).replace('\\"', '"'))


def known(words, code):
    """Returns true if a literal contains the words, or if one ends with the first words and another begins with the rest."""
    return any(words in text for text in code) or any(
        any(text.endswith(words[:i]) for text in code) and any(text.startswith(words[i:]) for text in code)
        for i in range(1, len(words)))


@guard("the pages of troubleshooting quote messages that the code contains", alone=True)
def quoted_messages(tree):
    code = [literal for name, text in tree.sources.items() if not name.endswith(".cuh") for literal in literals(text)]
    code += [plain(tree.text(name)) for name in tree.names("meson.build", "cuda/nvcc/meson.build", "pipelines/*.sh")]
    page = "\n".join(text for name, text in tree.pages.items() if name.startswith("docs/troubleshooting"))
    quotes = re.findall(r"\*\*`([^`]+)`\*\*", page) + re.findall(r'\*"([^*]+)"\*', page)
    for table in re.findall(r"^\| (?:…|message) \| remedy \|\n.*\n((?:\|.*\n)+)", page, re.M):
        quotes += [message.strip() for row in table.splitlines() for message in row.split("|")[1].split(";")]
    # The pages replace the variable parts of a message by an ellipsis.
    strangers = [f'"{quote.strip()}"' for quote in map(plain, quotes) if not quote.startswith(FOREIGN)
                 and not all(known(part.strip(), code) for part in quote.split("…"))]
    return ", ".join(strangers) if quotes else "no messages were found"


@guard("docs/troubleshooting.md lists the debug categories", alone=True)
def debug_categories(tree):
    # The category of an element has its name; FilterElement takes the name from the description.
    made = {category for name, text in tree.sources.items() if name.startswith("gst/")
            for category in re.findall(r'(?:GST_DEBUG_CATEGORY_INIT\(\s*\w+,|FilterDescription description = \{\s*"\w+",)\s*"(\w+)"', text)}
    table = re.search(r"^\| debug category \|.*\n.*\n((?:\|.*\n)+)", tree.pages["docs/troubleshooting.md"], re.M)
    named = {name for row in (table[1].splitlines() if table else ()) for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    others = made - tree.elements.keys()
    return ", ".join(sorted(others ^ named) + sorted(tree.elements.keys() - made)) if others else "no categories were found"


# The files that list the elements, with a pattern for the beginning of an element's line.
LISTS = {"README.md": r"^\| \[`(cuda\w+)`\]\(docs/elements/", "NEWS": r"^- (cuda\w+): ",
         "pipelines/packaging/debian/control": r"^  \* (cuda\w+): "}


@guard("README.md, NEWS and the Debian package list every element, and every element has a page", alone=True)
def listed_elements(tree):
    wrong = [f"{name}: {element}" for name, line in LISTS.items()
             for element in sorted(tree.elements.keys() ^ set(re.findall(line, tree.text(name), re.M)))]
    wrong += [page for page in (f"docs/elements/{element}.md" for element in tree.elements) if page not in tree.pages]
    return ", ".join(wrong) if tree.elements else "the sources register no elements"
