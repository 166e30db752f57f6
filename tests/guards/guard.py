# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared code of the guards: their list, the tree that they check, and a build of it."""
import functools
import json
import os
import pathlib
import re
import subprocess

guards = []


def guard(name, alone=False, reads=("",)):
    """Registers a function as a guard. The function takes a Tree and, unless the guard is `alone`, a Build. It returns the
    faults as a text, or an empty string, and raises Skip if it cannot check. `reads` lists the parts of the tree that affect
    the guard, in addition to tests/guards/ and, unless it is `alone`, to the build. An empty name means the whole tree."""
    def register(function):
        function.guard, function.alone = name, alone
        function.reads = (*reads, "tests/guards/", *(() if alone else ("BUILD/gst/", "BUILD/pipelines/")))
        guards.append(function)
        return function
    return register


class Skip(Exception):
    pass


class Tree:
    """A checkout. Guards get it as a parameter, so that their tests can pass another tree."""

    def __init__(self, top):
        self.top = pathlib.Path(top).resolve()

    def names(self, *patterns):
        """Returns the sorted names of the files that match one of the patterns."""
        return sorted({path.relative_to(self.top).as_posix() for pattern in patterns for path in self.top.glob(pattern)
                       if path.is_file()})

    def text(self, name):
        return (self.top / name).read_text(encoding="utf-8")

    @functools.cached_property
    def sources(self):
        """Returns the texts of the product's C++ and CUDA sources, by name."""
        return {name: self.text(name) for name in self.names("cuda/**/*.*", "gst/**/*.*")
                if name.endswith((".cpp", ".h", ".cu", ".cuh"))}

    @functools.cached_property
    def pages(self):
        return {name: self.text(name) for name in self.names("*.md", "docs/**/*.md")}

    @functools.cached_property
    def elements(self):
        """Returns the elements that the sources register, each with the name of its source."""
        return {element: name for name, text in self.sources.items()
                for element in re.findall(r'^GST_ELEMENT_REGISTER_DEFINE\(\s*\w+, "(\w+)"', text, re.M)}

    @functools.cached_property
    def version(self):
        found = re.search(r"^  version : '([\d.]+)'", self.text("meson.build"), re.M)
        return found[1] if found else "(meson.build names no version)"


class Result:
    def __init__(self, done):
        self.status, self.out = done.returncode, done.stdout.decode(errors="replace")
        self.text = self.out + done.stderr.decode(errors="replace")

    def last(self):
        lines = [line for line in self.text.splitlines() if line.strip()]
        return lines[-1] if lines else "no output"


def run(folder, command, timeout=1800, **environment):
    return Result(subprocess.run(
        [str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=timeout, check=False, env={**os.environ, **environment}))


class Build:
    """A build of the tree, and a folder for temporary files."""

    def __init__(self, tree, folder, scratch):
        self.tree = tree
        self.folder = pathlib.Path(folder).resolve()
        self.scratch = pathlib.Path(scratch)

    def run(self, *command, **environment):
        return run(self.tree.top, command, **environment)

    def play(self, *command, **environment):
        """Runs a command that finds this build's elements, and no display."""
        return self.run(*command, GST_REGISTRY=str(self.scratch / "registry"), GST_PLUGIN_PATH=str(self.folder / "gst"),
                        DISPLAY="", WAYLAND_DISPLAY="", **environment)

    def launch(self, *words):
        return self.play("gst-launch-1.0", "-q", *words)

    def introspect(self, what):
        return json.loads(self.run("meson", "introspect", what, self.folder).out)

    def option(self, name):
        return next(option["value"] for option in self.introspect("--buildoptions") if option["name"] == name)

    @functools.cached_property
    def features(self):
        """Returns the output of gst-inspect-1.0 about the plug-in. With a registry of its own and empty paths, it uses neither a
        cache nor an installed copy."""
        return self.run("gst-inspect-1.0", self.folder / "gst/libgstcudavision.so", GST_PLUGIN_PATH="",
                        GST_PLUGIN_SYSTEM_PATH="", GST_REGISTRY=str(self.scratch / "registry-alone"))

    @functools.cached_property
    def installed(self):
        """Installs the build with `meson install`, and returns the folder."""
        root = self.scratch / "root"
        self.run("meson", "install", "-C", self.folder, "--no-rebuild", DESTDIR=str(root))
        return root
