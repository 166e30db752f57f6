#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the pages for meson install, with links for the installed folder. Links to files that are not installed lead to the
source tree on the web; if --source-url is empty, they become text that names the file."""
import argparse
import pathlib
import posixpath
import re


class Links:
    def __init__(self, arguments):
        self.source_url = arguments.source_url.rstrip("/")
        docs = {posixpath.normpath(f"docs/{name}"): f"{arguments.doc_dir}/{name.removeprefix('../')}"
                for name in arguments.pages + arguments.files}
        top = arguments.docs.parent
        scripts = {path.relative_to(top).as_posix() for path in (top / "pipelines").rglob("*")}
        scripts -= {f"pipelines/{name}" for name in arguments.not_installed}
        self.installed = {**docs, **{name: f"{arguments.tools_dir}{name.removeprefix('pipelines')}"
                                     for name in (*scripts, "pipelines") if not name.startswith("pipelines/packaging/")}}

    def of_installed_page(self, page, link):
        """Returns the text for the installed page that replaces a link of a page in the tree."""
        label, (path, mark, anchor) = link["label"], link["target"].partition("#")
        if not path or "://" in path:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if path in self.installed:
            target = posixpath.relpath(self.installed[path], posixpath.dirname(self.installed[page]))
            return f"[{label}]({target}{mark}{anchor})"
        if self.source_url:
            return f"[{label}]({self.source_url}/{path}{mark}{anchor})"
        return f"`{path}`" if path.endswith(label.strip("`/")) else f"{label} (`{path}` in the sources)"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=pathlib.Path, required=True, help="docs/ of the tree")
    parser.add_argument("--doc-dir", required=True, help="where docs/ is installed")
    parser.add_argument("--tools-dir", required=True, help="where pipelines/ is installed")
    parser.add_argument("--source-url", required=True, help="web address of the source tree; may be empty")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder for the pages")
    parser.add_argument("--pages", nargs="+", required=True, help="pages to write, relative to docs/")
    parser.add_argument("--files", nargs="+", required=True, help="files that are installed unchanged, relative to docs/")
    parser.add_argument("--not-installed", nargs="+", required=True, help="files of pipelines/ that are not installed")
    arguments = parser.parse_args()
    links = Links(arguments)
    for name in arguments.pages:
        text = (arguments.docs / name).read_text(encoding="utf-8")
        text = re.sub(r"\[(?P<label>[^][]*)\]\((?P<target>[^()\s]+)\)",
                      lambda link, page=f"docs/{name}": links.of_installed_page(page, link), text)
        (arguments.output / pathlib.PurePath(name).name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
