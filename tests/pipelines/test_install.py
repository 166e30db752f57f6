# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scripts as `meson install` leaves them, away from the source tree; and how packages are installed."""
import fcntl
import os
import shutil

from harness import Skip, expect, test, top
from test_inputs import python

reads = ()  # besides what all tests read


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


@test("installing packages waits while another program holds the locks of apt-get")
def _(place):
    apt = shutil.which("apt-get")
    if not apt:
        raise Skip("there is no apt-get")
    root = place.folder / "root"
    locks = [root / name for name in ("var/lib/apt/lists/lock", "var/cache/apt/archives/lock", "var/lib/dpkg/lock-frontend")]
    for lock in locks:
        (lock.parent / "partial").mkdir(parents=True)
    for folder in ("apt.conf.d", "preferences.d", "sources.list.d"):
        (root / "etc/apt" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    place.stand_in("apt-get", f"exec {apt} -o Dir={root} -o Dir::State::status={root}/var/lib/dpkg/status \"$@\"\n")
    held = []
    for lock in locks:
        held.append(os.open(lock, os.O_RDWR | os.O_CREAT))
        fcntl.lockf(held[-1], fcntl.LOCK_EX)
    running = place.start("bash", "-ec", f". {top}/scripts/setup.sh; as_root=(); apt_get update; apt_get clean; apt_get install -y; echo done")
    for lock, file in zip(locks, held):
        running.wait_until(lambda: str(lock) in running.text())
        expect(running.runs() and "done" not in running.text(), f"it does not wait for {lock}: {running.text()}")
        os.close(file)
    result = running.finish()
    expect(result.status == 0 and result.text.endswith("done\n"), result.text)
