# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scripts as `meson install` leaves them, away from the source tree."""
from harness import expect, test
from test_inputs import python


@test("installed scripts work, and find what they share")
def _(place):
    result = place.run("meson", "install", "-C", place.build, "--no-rebuild", DESTDIR=str(place.folder / "root"))
    expect(result.status == 0, result.last())
    tools, = (place.folder / "root").glob("**/gst-cudavision/pipelines")
    expect((tools.parent / "scripts/setup.sh").exists() and not list(tools.glob("**/*.cpp")) and not list(tools.glob("**/__pycache__")),
           f"{sorted(path.name for path in tools.iterdir())}")
    left, right = (place.materials / f"{side}.png" for side in ("left", "right"))
    for command in ((tools / "binarise.sh", left, "out.png"), (python, tools / "disparity.py", left, right, "--property", "num-disparities=32"),
                    (python, tools / "calibrate.py", "--help"), (python, tools / "blur-faces.py", "--help"), ("python3", tools / "archive.py", "--help")):
        result = place.run(*command)
        expect(result.status == 0, f"{command}: {result.last()}")
    # The link leads to where the prefix has the programs.
    programs = place.folder / "root" / (tools / "programs").readlink().relative_to("/")
    result = place.run(programs / "mark-regions", "--help")
    expect(result.status == 0 and "usage: mark-regions" in result.out, result.last())
