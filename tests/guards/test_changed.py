#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks which parts `tests/run.sh --changed` runs, in a small tree with two kernels, two elements, their tests, a
guard, a script and a test of tests/pipelines. Each part writes its name to a file when it runs. Prints the problems, or nothing."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent

MESON = """project('gst-cudavision', 'cpp', default_options : ['buildtype=release', 'cpp_std=c++17'])
kernels = static_library('kernels', 'cuda/blur/blur.cpp', 'cuda/equalize/equalize.cpp', pic : true)
subdir('gst')
subdir('tests')
summary({'CUDA kernels' : 'NO'}, section : 'gst-cudavision')
"""
TESTS = """foreach name : ['blur', 'equalize']
  test(name, executable('test_' + name, 'test_' + name + '.cpp', link_with : kernels), suite : 'kernels')
endforeach
foreach name, used : {'all' : {}, 'blur' : {'CUDAVISION_TEST_ELEMENTS' : 'cudablur'},
                      'equalize' : {'CUDAVISION_TEST_ELEMENTS' : 'cudaequalize'}}
  test('check_' + name, executable('check_' + name, 'check.cpp', cpp_args : '-DNAME="check_' + name + '"'),
    suite : 'check', depends : plugin, env : used)
endforeach
test('script', find_program('python3'), args : files('script.py'), suite : 'guards')
"""
NOTE = '#include <cstdio>\n#include <cstdlib>\nstatic void note(const char* name) {\n' \
       '  std::FILE* file = std::fopen(std::getenv("RAN"), "a");\n  std::fprintf(file, "%s\\n", name);\n  std::fclose(file);\n}\n'
PYTHON_NOTE = 'import os\nopen(os.environ["RAN"], "a").write("{}\\n")\n'
HARNESS = """import pathlib
top = pathlib.Path(__file__).resolve().parent.parent.parent
tests = []
class Skip(Exception): pass
class Place:
    def __init__(self, *_): pass
    def remove(self): pass
def make_materials(_): pass
def test(name): return lambda function: tests.append((name, function))
"""
FILES = {
    "meson.build": MESON,
    "gst/meson.build": "plugin = shared_module('gstcudavision', 'base/base.cpp', 'blur/blur.cpp', 'equalize/equalize.cpp', "
                       "link_with : kernels)\n",
    "tests/meson.build": TESTS,
    "cuda/meson.build": "",
    "gst/base/base.cpp": "extern \"C\" int base(int x) { return x + 1; }\n",
    **{f"cuda/{name}/{name}.h": f"int {name}(int x);\n" for name in ("blur", "equalize")},
    "cuda/blur/blur.cpp": '#include "blur.h"\nint blur(int x) { return 2 * x; }\n',
    "cuda/equalize/equalize.cpp": '#include "equalize.h"\nint equalize(int x) { return x + 3; }\n',
    **{f"gst/{name}/{name}.cpp": f'#include "../../cuda/{name}/{name}.h"\n#define GST_ELEMENT_REGISTER_DEFINE(...)\n'
                                 f'GST_ELEMENT_REGISTER_DEFINE(cuda{name}, "cuda{name}")\n'
                                 f'extern "C" int {name}_element(int x) {{ return {name}(x) + 5; }}\n' for name in ("blur", "equalize")},
    "tests/note.h": NOTE,
    "tests/test_blur.cpp": '#include "note.h"\nint blur(int);\nint main() { note("blur"); return blur(0); }\n',
    "tests/test_equalize.cpp": '#include "note.h"\nint equalize(int);\nint main() { note("equalize"); return equalize(-3); }\n',
    "tests/check.cpp": '#include "note.h"\nint main() { note(NAME); }\n',
    "tests/script.py": PYTHON_NOTE.format("script"),
    "tests/guards/guard.py": (TOP / "tests/guards/guard.py").read_text(encoding="utf-8"),
    "tests/guards/guard_stub.py": "from guard import guard\n@guard('a guard', alone=True)\ndef look(_):\n    " +
                                  PYTHON_NOTE.format("guard").replace("\n", "\n    ") + "return ''\n",
    "tests/pipelines/harness.py": HARNESS,
    "tests/pipelines/test_stub.py": "from harness import test\n@test('a script')\ndef _(place):\n    " +
                                    PYTHON_NOTE.format("pipelines").replace("\n", "\n    "),
    "pipelines/script.sh": "echo\n",
    "README.md": "# A page\n",
}
COPIED = ("meson_options.txt", "scripts/setup.sh", "tests/run.sh", "tests/tally.py", "tests/changed.py", "tests/digests.py",
          "tests/guards/run.py", "tests/pipelines/run.py")
KERNELS, CHECK, WHOLE = {"blur", "equalize"}, {"check_all", "check_blur", "check_equalize"}, {"script", "guard"}
ALL = KERNELS | CHECK | WHOLE | {"pipelines"}

problems = []


class StandIn:
    def __init__(self, top):
        self.top, self.ran = top, top / "build-notes/ran"
        for name, text in FILES.items():
            self.write(name, text)
        for name in COPIED:
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, top / name)

    def write(self, name, text):
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text, encoding="utf-8")

    def edit(self, name, old, new):
        text = (self.top / name).read_text(encoding="utf-8")
        assert old in text, f"{name} lacks {old}"
        self.write(name, text.replace(old, new))

    def expect(self, what, parts, *arguments, status=0, words="", **environment):
        """Runs tests/run.sh, and expects that exactly these parts run and that its last line has these words."""
        self.write(self.ran, "")
        # CUDAVISION_TEST_RAY=none keeps tests/run.sh from installing Ray, which nothing here uses.
        done = subprocess.run([self.top / "tests/run.sh", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "RAN": str(self.ran), "CUDAVISION_TEST_RAY": "none", **environment})
        ran = set(self.ran.read_text(encoding="utf-8").split())
        last = done.stdout.decode(errors="replace").strip().splitlines()[-1:]
        if ran != parts or done.returncode != status or words not in "".join(last):
            problems.append(f"{what}: {sorted(ran)} ran instead of {sorted(parts)}, status {done.returncode}, {last}")


def main():
    with tempfile.TemporaryDirectory(prefix="cudavision-changed-") as scratch:
        tree = StandIn(pathlib.Path(scratch))
        tree.expect("the first run", ALL, "--changed", words="8 passed, 0 failed, 0 skipped")
        tree.expect("nothing has changed", set(), "--changed", words="0 passed, 0 failed, 0 skipped, 8 unchanged since they passed")
        tree.expect("without --changed", ALL, words="8 passed, 0 failed, 0 skipped")
        tree.expect("one suite", KERNELS, "--suite", "kernels", words="2 passed, 0 failed, 0 skipped")
        tree.expect("two suites without changes", set(), "--suite", "kernels", "--suite", "check", "--changed",
                    words="5 unchanged since they passed")
        tree.edit("cuda/blur/blur.cpp", "2 * x", "4 * x")
        tree.expect("a kernel", {"blur", "pipelines", "check_all", "check_blur"} | WHOLE, "--changed", words="6 passed, 0 failed, 0 skipped, 2 unchanged")
        tree.edit("gst/blur/blur.cpp", "x) + 5", "x) + 6")
        tree.expect("an element", {"pipelines", "check_all", "check_blur"} | WHOLE, "--changed", words="3 unchanged")
        tree.edit("gst/base/base.cpp", "x + 1", "x + 2")
        tree.expect("what elements share", {"pipelines"} | CHECK | WHOLE, "--changed", words="2 unchanged")
        tree.edit("gst/blur/blur.cpp", "#define", "#include \"../../cuda/equalize/equalize.h\"\n#define")
        tree.expect("another header", WHOLE | {"check_blur"}, "--changed", words="5 unchanged")
        tree.edit("cuda/equalize/equalize.cpp", "x + 3", "3 + x + 0 * x")
        tree.edit("cuda/equalize/equalize.cpp", "int equalize", "int more(int x) { return x; }\nint equalize")
        tree.expect("an operation that is used now", {"equalize", "pipelines"} | CHECK | WHOLE, "--changed", words="1 unchanged")
        tree.edit("gst/blur/blur.cpp", "\nextern", " // A comment.\nextern")
        tree.expect("a comment", WHOLE, "--changed", words="6 unchanged")
        tree.edit("pipelines/script.sh", "echo", "echo done")
        tree.expect("a script", {"pipelines"} | WHOLE, "--changed", words="5 unchanged")
        tree.edit("tests/test_equalize.cpp", "equalize(-3)", "equalize(-2)")
        tree.expect("a test that fails", {"equalize"} | WHOLE, "--changed", status=1, words="2 passed, 1 failed, 0 skipped, 5 unchanged")
        tree.expect("a test that has failed", {"equalize"}, "--changed", status=1, words="0 passed, 1 failed, 0 skipped, 7 unchanged")
        tree.edit("tests/test_equalize.cpp", "equalize(-2)", "equalize(-3)")
        tree.expect("the edit is reverted", {"equalize"} | WHOLE, "--changed", words="3 passed, 0 failed, 0 skipped, 5 unchanged")
        tree.expect("another variable", ALL, "--changed", words="8 passed", CUDAVISION_TEST_CASES="7")
        tree.expect("another option", ALL, "--changed", "-Dwerror=true", words="8 passed")
        compiler = tree.top / "build-notes/c++"
        tree.write(compiler, f'#!/bin/sh\nexec {os.environ.get("CXX", "c++")} "$@"\n')
        compiler.chmod(0o755)
        tree.expect("another compiler", ALL, "--changed", "-Dwerror=true", words="8 passed", CXX=str(compiler))
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
