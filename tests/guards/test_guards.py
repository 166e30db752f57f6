#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs each guard on small trees, or on builds of fake programs, most of which have a fault that it must find. Guards that
need no build must also find no fault in a sound tree. Prints the problems, or nothing."""
import os
import pathlib
import sys
import tempfile

import guard
import guard_budgets
import guard_pages
import guard_plugin
import guard_properties
import guard_scripts
import guard_sources

SOUND = {
    "meson.build": "project('gst-cudavision', 'cpp',\n  version : '1.2.0',\n",
    "NEWS": "gst-cudavision 1.2.0 (2026-11-09)\n- cudagaussblur: blurs\n",
    "README.md": "# The blur\n\n| [`cudagaussblur`](docs/elements/cudagaussblur.md) | blurs |\n\n[a page](docs/blur.md#the-page), `gst/plugin.cpp`\n\n```c\nblur();\n```\n",
    "docs/blur.md": "# The page\n",
    "docs/elements/common.md": "# Common\n",
    "docs/elements/cudagaussblur.md": "# Blur\n\n| property | values | default | live | description |\n|---|---|---|---|---|\n"
                                      "| `sigma` | 1/4 … 2³¹ − 1 | 1.2 | yes | |\n| `fine` | boolean | `false` | yes | |\n"
                                      "| `border` | `wrap`, `reflect` | `wrap` | no | |\n",
    "docs/troubleshooting.md": "**`picture.h is … to blur.`**\n\n| debug category | |\n|---|---|\n| `blur` | the blur |\n",
    "pipelines/program.cpp": "int main() {\nblur();\n}\n",
    "pipelines/packaging/debian/changelog": "gst-cudavision (1.2.0-1) unstable; urgency=low\n\n -- A <a@b.org>  Mon, 09 Nov 2026 12:00:00 +0000\n",
    "pipelines/packaging/debian/control": "  * cudagaussblur: blurs\n",
    "cuda/core/error.h": "#pragma once\n",
    "cuda/gaussblur/gaussblur.h": '#include "cuda/core/error.h"\n',
    "cuda/gaussblur/cpu.cpp": '#include "cuda/gaussblur/rows/rows.h"\n',
    "cuda/gaussblur/rows/rows.h": '#include "cuda/gaussblur/tiles/tile.h"\n',
    "cuda/gaussblur/tiles/tile.h": '#include "cuda/gaussblur/gaussblur.h"\n',
    "gst/plugin.cpp": '#include "gst/gaussblur/blur.h"\n',
    "gst/gaussblur/blur.h": "/**\n * SECTION:element-cudagaussblur\n * @title: cudagaussblur\n * ## Example launch line\n * |[\n"
                            " * gst-launch-1.0 videotestsrc ! cudagaussblur ! fakesink\n * ]|\n * Since: 1.2\n */\n"
                            '#include "gst/base/base.h"\nGST_ELEMENT_REGISTER_DEFINE(blur, "cudagaussblur", 0)\n'
                            'GST_DEBUG_CATEGORY_INIT(category, "cudagaussblur", 0)\n"picture.h is too " "large to blur."\n',
    "gst/base/base.h": '#include "cuda/core/error.h"\nGST_DEBUG_CATEGORY_INIT(category, "blur", 0)\n',
    "gst/sgmstereo/settings.h": '#include "gst/base/base.h"\n',
    "gst/sgmstereo/pads/pads.h": '#include "gst/sgmstereo/settings.h"\n',
    "gst/sgmstereo/pipeline/pipeline.h": '#include "gst/sgmstereo/pads/pads.h"\npost_warning(element);\n',
    "gst/sgmstereo/rig/geometry/fit.h": '#include "cuda/core/error.h"\n',
    "tests/guards/budgets.txt": "# A comment.\nroom cuda/core 1\nroom cuda/gaussblur 5\nroom gst/gaussblur 13\nroom gst/base 2\n"
                                "room gst/sgmstereo 5\nroom tests/gpu 3\nroom tests/guards 2\n",
    **{script: "#!/bin/bash\n" for script in ("tests/gpu/stub_runs.py", "tests/gpu/stub_runtime.py", "tests/gpu/test_check_proof.py",
                                           "tests/guards/test_guards.py", "tests/guards/test_changed.py")},
}

# For guards that need no build: the changed file, its old and new text, and words of the expected complaint, or "" for none.
FAULTY_TREES = [
    (guard_sources.directions, "cuda/core/error.h", ("#pragma once", '#include "cuda/gaussblur/gaussblur.h"'),
     "cuda/core/error.h includes cuda/gaussblur/gaussblur.h"),
    (guard_sources.directions, "gst/base/base.h", ("cuda/core/error.h", "gst/gaussblur/blur.h"), "gst/base/base.h includes"),
    (guard_sources.inner_directions, "cuda/gaussblur/tiles/tile.h", ("gaussblur.h", "rows/rows.h"),
     "cuda/gaussblur/rows → cuda/gaussblur/tiles"),
    (guard_sources.inner_directions, "cuda/gaussblur/gaussblur.h", ("core/error.h", "gaussblur/rows/rows.h"),
     "cuda/gaussblur/gaussblur.h includes cuda/gaussblur/rows/rows.h"),
    (guard_sources.directions, "gst/sgmstereo/pads/pads.h", ("settings.h", "pipeline/pipeline.h"), "pads.h includes gst/sgmstereo/pipeline"),
    (guard_sources.directions, "gst/sgmstereo/settings.h", ("base/base.h", "sgmstereo/pads/pads.h"), "settings.h includes gst/sgmstereo/pads"),
    (guard_sources.no_glib, "gst/sgmstereo/rig/geometry/fit.h", ("cuda/core/error.h", "gst/sgmstereo/settings.h"), "rig/geometry/fit.h"),
    (guard_sources.stereo_pushes, "gst/sgmstereo/pads/pads.h", ("#include", "post_warning(element);\n#include"), "gst/sgmstereo/pads/pads.h"),
    (guard_sources.no_glib, "cuda/core/error.h", ("#pragma once", "#include <glib.h>"), "cuda/core/error.h"),
    (guard_sources.no_toolkit, "gst/base/base.h", ('"cuda/core/error.h"', "<cuda_runtime.h>"), "gst/base/base.h"),
    (guard_sources.no_device_calls, "gst/base/base.h", ("#include", "cudaSetDevice (0);\n#include"), "gst/base/base.h"),
    (guard_sources.no_device_calls, "cuda/core/error.h", ("#pragma once", "cudaDeviceReset();"), "cuda/core/error.h"),
    (guard_sources.nullable_texts, "gst/base/base.h", ("#include", "std::string(gst_pad_get_name (pad))\n#include"), "gst/base/base.h reads gst_pad_get_name"),
    (guard_sources.nullable_texts, "gst/base/base.h", ("#include", "text_of(GST_PAD_NAME(pad)); error->message;\n#include"), "gst/base/base.h reads error->message"),
    (guard_sources.caps_queries, "gst/base/base.h", ("#include", "gst_pad_peer_query_caps(pad, filter);\n#include"), "gst/base/base.h"),
    (guard_sources.sections, "gst/gaussblur/blur.h", ("SECTION:element-cudagaussblur", "SECTION:other"), "no SECTION block"),
    (guard_sources.sections, "gst/gaussblur/blur.h", ("! cudagaussblur", ""), "no launch line"),
    (guard_sources.sections, "gst/gaussblur/blur.h", ("Since: 1.2\n", "Since: 1.10\n"), "no Since:"),
    (guard_sources.sections, "gst/gaussblur/blur.h", ("GST_ELEMENT_REGISTER_DEFINE", "REGISTER"), "no elements were found"),
    (guard_sources.versions, "NEWS", ("1.2.0", "1.3.0"), "NEWS begins"),
    (guard_sources.versions, "NEWS", ("11-09", "11-10"), "NEWS begins"),
    (guard_sources.versions, "NEWS", ("(2026-11-09)", "(not released yet)"), ""),
    (guard_sources.versions, "pipelines/packaging/debian/changelog", ("1.2.0", "1.1.0"), "changelog begins"),
    (guard_budgets.rooms, "cuda/core/error.h", ("\n", "\n\n"), "the room cuda/core has 2 lines, its budget is 1"),
    (guard_budgets.rooms, "gst/gaussblur/blur.h", ("\n", 400 * "\n"), "the file gst/gaussblur/blur.h has 412 lines, its budget is 400"),
    (guard_budgets.rooms, "tests/guards/budgets.txt", ("room gst/base 2\n", ""), "the room gst/base has 2 lines, its budget is 0"),
    (guard_budgets.rooms, "tests/guards/budgets.txt", ("room", "file cuda/core/error.h 9\nroom"), "the file cuda/core/error.h, which needs no"),
    (guard_budgets.rooms, "tests/guards/budgets.txt", ("room", "folder gst/base 30\nroom"), "the folder gst/base, which needs no entry"),
    (guard_pages.shown_code, "README.md", ("blur();", "blurr();"), "README.md: C code"),
    (guard_pages.shown_code, "README.md", ("```c", "```sh"), "no page shows any C"),
    (guard_pages.named_files, "README.md", ("gst/plugin.cpp", "gst/plugout.cpp"), "README.md: gst/plugout.cpp"),
    (guard_pages.named_files, "README.md", ("docs/blur.md", "docs/blurs.md"), "README.md: docs/blurs.md"),
    (guard_pages.named_files, "README.md", ("#the-page", "#a-page"), "README.md: docs/blur.md#a-page"),
    (guard_pages.quoted_messages, "docs/troubleshooting.md", ("to blur", "to sharpen"), "to sharpen"),
    (guard_pages.debug_categories, "docs/troubleshooting.md", ("`blur`", "`sharpen`"), "blur, sharpen"),
    (guard_pages.debug_categories, "gst/gaussblur/blur.h", ("GST_DEBUG", "DEBUG"), "cudagaussblur"),
    (guard_pages.debug_categories, "gst/base/base.h", ("GST_DEBUG", "DEBUG"), "no categories were found"),
    (guard_pages.listed_elements, "README.md", ("[`cudagaussblur`]", "cudagaussblur"), "README.md: cudagaussblur"),
    (guard_pages.listed_elements, "README.md", ("[`cudagaussblur`]", "[`cudasharpen`]"), "README.md: cudagaussblur, README.md: cudasharpen"),
    (guard_pages.listed_elements, "NEWS", ("cudagaussblur", "blur"), "NEWS: cudagaussblur"),
    (guard_pages.listed_elements, "pipelines/packaging/debian/control", ("cudagaussblur", "blur"), "debian/control: cudagaussblur"),
    (guard_pages.listed_elements, "gst/gaussblur/blur.h", ('"cudagaussblur", 0)\n', '"cudasharpen", 0)\n'), "docs/elements/cudasharpen.md"),
    (guard_pages.listed_elements, "gst/gaussblur/blur.h", ("GST_ELEMENT_REGISTER_DEFINE", "REGISTER"), "no elements"),
]

INSPECT = """
case $1 in
  */libgstcudavision.so) printf '  Version   1.2.0\\n  Binary package   P\\n  Origin URL   O\\n  cudagaussblur: blurs\\n' ;;
  *) echo '  Documentation  file:///usr/share/doc/blur.md' ;;
esac"""
BORDER = """  border  : The border
      flags: readable, writable, changeable only in NULL or READY state
      Enum "GstCudaGaussBlurBorder" Default: 0, "wrap"
          (0): wrap  - The other side
          (1): reflect  - A mirror
"""
PROPERTIES = f"""cat <<'END'
Element Properties:

  fine    : Fine
      flags: readable, writable, controllable, changeable in NULL, READY, PAUSED or PLAYING state
      Boolean. Default: false
  sigma   : The sigma
      flags: readable, writable, controllable, changeable in NULL, READY, PAUSED or PLAYING state
      Double. Range:   0.25 -  2147483647 Default:   1.2 
{BORDER}
END
"""
MESON = """
case "$*" in
  *--installed*) echo '{"a": "/usr/lib/gstreamer-1.0/libgstcudavision.so"}' ;;
  *--buildoptions*) echo '[{"name": "package-name", "value": "P"}, {"name": "package-origin", "value": "O"}]' ;;
  install*) mkdir -p $DESTDIR/usr/share/doc; echo '![a picture](lacking.png)' >$DESTDIR/usr/share/doc/blur.md ;;
  setup*) echo '  GPU targets : 75' ;;
esac"""
LIMITS = """
numbers, words = {"cudagaussblur": {"size": "odd"}}, {"cudagaussblur": {"border": {"wrap": "the other side"}}}
def accepts(element, name, value):
    return name != "size" or value % 2 == 1
"""
PROBED = "".join(f"echo cudagaussblur {line}\n" for line in ("size 3 accepted", "size 4 refused", "border wrap accepted", "border mirror refused",
                                                           "sigma 4 accepted")) + "exit 0\n"
# For guards that run programs: fake files by their paths, and words of the expected complaint, or "" for none. Fakes in bin/
# precede the system's programs on PATH; fakes in pipelines/ and tests/ replace files of the tree or the build.
FAULTY_BUILDS = [
    (guard_plugin.registers, {"bin/gst-inspect-1.0": "exit 1"}, "gst-inspect-1.0 fails"),
    (guard_plugin.registers, {"bin/gst-inspect-1.0": "echo other:"}, "does not contain cudagaussblur"),
    (guard_plugin.blur_sweep, {"pipelines/blur-sweep": "exit 1"}, "61 and 0 frames"),
    (guard_plugin.blur_sweep, {"pipelines/blur-sweep": "for i in {100..160}; do echo 0:00:$i abc$i; done"}, "sigma is not 0"),
    (guard_plugin.blur_sweep, {"pipelines/blur-sweep": 'exec gst-launch-1.0 -q "${@:5:6}" checksumsink'}, "fewer than 20"),
    (guard_plugin.box_sum, {"pipelines/box-sum": "echo sum 1; echo sum 2; echo sum 3"}, "[1, 2, 3] instead of"),
    (guard_plugin.stereo_files, {"pipelines/stereo-files.sh": 'cp "$3" "$5"'}, "96x40, 8 bits"),
    (guard_plugin.stereo_files, {"pipelines/stereo-files.sh": "exit 1"}, "it writes no PNG"),
    (guard_plugin.stereo_files, {"pipelines/stereo-files.sh": """
      gst-launch-1.0 -q filesrc location="$3" ! pngdec ! videoconvert ! video/x-raw,format=GRAY16_BE ! pngenc ! filesink location="$5"
      """}, "the disparities in the middle"),
    (guard_plugin.stereo_packed, {"pipelines/stereo-packed.sh": 'cp "$2" "$3"'}, "30720 pixels instead of 4 frames"),
    (guard_plugin.stereo_packed, {"pipelines/stereo-packed.sh": "echo it fails; exit 1"}, "it fails"),
    (guard_plugin.distance, {"pipelines/distance": 'for i in 1 2 3 4; do echo "   0.0 s: middle 900 mm"; done'}, "0 of 4 frames"),
    (guard_plugin.distance, {"pipelines/distance": '[[ $# -eq 3 ]] || for i in 1 2 3 4; do echo " 0.0 s: middle 2000 mm"; done'},
     "0 of 4 frames"),
    (guard_plugin.install_folder, {"bin/meson": "echo '{\"a\": \"/usr/lib/libgstcudavision.so\"}'"}, "it is not in a folder"),
    (guard_plugin.install_folder, {"bin/meson": MESON}, "it is not in a folder"),
    (guard_plugin.inspected, {"bin/meson": MESON, "bin/gst-inspect-1.0": INSPECT.replace("1.2.0", "1.1.0")}, "not the version"),
    (guard_plugin.inspected, {"bin/meson": MESON, "bin/gst-inspect-1.0": INSPECT.replace("  P", "  Q")}, "package-name"),
    (guard_plugin.inspected, {"bin/meson": MESON, "bin/gst-inspect-1.0": INSPECT.replace("  O\\", "  Q\\")}, "package-origin"),
    (guard_plugin.installed_pages, {"bin/meson": "exit 0", "bin/gst-inspect-1.0": INSPECT}, "is not installed"),
    (guard_plugin.installed_links, {"bin/meson": MESON}, "usr/share/doc/blur.md: lacking.png"),
    (guard_plugin.installed_links, {"bin/meson": MESON.replace("lacking.png", "blur.md#lacking")}, "usr/share/doc/blur.md: blur.md#lacking"),
    (guard_plugin.installed_links, {"bin/meson": MESON.replace("lacking.png", "https://example.org")}, ""),
    (guard_plugin.installed_links, {"bin/meson": MESON.replace("(lacking.png)", "")}, "the pages have no links"),
    *((guard_properties.property_tables, {"bin/gst-inspect-1.0": PROPERTIES.replace(old, new)}, words) for old, new, words in (
        ("", "", ""),
        ("0.25 -", "0.5 -", "cudagaussblur: sigma: its minimum is 0.5"),
        ("2147483647", "100", "cudagaussblur: sigma: its maximum is 100"),
        ("1.2 \n", "1.3 \n", "cudagaussblur: sigma: its default is 1.3"),
        ("Default: false", "Default: true", "cudagaussblur: fine: its default is true"),
        ("Boolean. Default: false", "Integer. Range: 0 - 1 Default: 0 ", "cudagaussblur: fine: its default is 0"),
        ("controllable, ", "", "cudagaussblur: fine: live must be no"),
        ("reflect", "mirror", "cudagaussblur: border: its values are wrap, mirror"),
        (BORDER, "", "cudagaussblur has no border"),
        ("  fine  ", "  coarse  ", "cudagaussblur: no row for coarse"),
        ("flags", "", "an element shows no properties"))),
    *((guard_properties.explored_limits, {"pipelines/explore/limits.py": LIMITS, "tests/guards/probe_limits.py": PROBED.replace(old, new)}, words)
      for old, new, words in (
        ("", "", ""),
        ("3 accepted", "3 refused", "cudagaussblur size=3 is refused"),
        ("4 refused", "4 accepted", "cudagaussblur size=4 is accepted"),
        ("mirror refused", "mirror accepted", "cudagaussblur border=mirror is accepted"),
        ("wrap accepted", "wrap refused", "cudagaussblur border=wrap is refused"),
        ("size", "length", "cudagaussblur has no size"),
        ("exit 0", "exit 1", "probe_limits.py fails"))),
    (guard_scripts.guards_find_faults, {"tests/guards/test_guards.py": "echo a complaint"}, "a complaint"),
    (guard_scripts.changed_parts, {"tests/guards/test_changed.py": "echo a complaint"}, "a complaint"),
    (guard_scripts.gpu_runs, {"tests/gpu/stub_runs.py": "echo a complaint"}, "a complaint"),
    (guard_scripts.gpu_runs, {"tests/gpu/test_check_proof.py": "echo a complaint"}, "a complaint"),
    (guard_scripts.gpu_runs, {"tests/gpu/stub_runs.py": "exit 3"}, "status 3"),
    (guard_scripts.gpu_runtime, {"tests/gpu/stub_runtime.py": "echo a complaint"}, "a complaint"),
    (guard_scripts.common_cards, {"bin/nvcc": "echo sm_75 sm_80", "bin/pkg-config": "exit 0", "bin/meson": MESON},
     "'75' instead of 75-real,80"),
]

problems = []


def expect(what, found, words):
    if words not in found or not words and found:
        problems.append(f'{what}: "{found}" instead of "{words or "nothing"}"')


def make_tree(scratch, files):
    top = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return guard.Tree(top)


def look_at_trees(scratch):
    for function in guard.guards:
        if function.alone:
            expect(f"{function.guard}, sound", function(make_tree(scratch, SOUND)), "")
    for function, changed, (old, new), words in FAULTY_TREES:
        assert old in SOUND[changed], f"{changed} lacks {old}"
        faulty = {**SOUND, changed: SOUND[changed].replace(old, new, 1)}
        expect(function.guard, function(make_tree(scratch, faulty)), words)


def look_at_builds(scratch):
    path = os.environ["PATH"]
    for function, stand_ins, words in FAULTY_BUILDS:
        tree = make_tree(scratch, {**SOUND, **{name: f"#!/bin/bash\n{text}\n" for name, text in stand_ins.items()}})
        os.environ["PATH"] = f"{tree.top / 'bin'}:{path}"
        build = guard.Build(tree, tree.top, tempfile.mkdtemp(dir=scratch))
        expect(function.guard, function(tree) if function.alone else function(tree, build), words)


def main():
    with tempfile.TemporaryDirectory(prefix="cudavision-guards-") as scratch:
        look_at_trees(scratch)
        look_at_builds(scratch)
    shown = {function.guard for function, *_ in FAULTY_TREES + FAULTY_BUILDS}
    problems.extend(f"{name}: no test has a fault for it" for name in {function.guard for function in guard.guards} - shown)
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
