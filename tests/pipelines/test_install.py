# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the scripts after `meson install`, outside of the source tree, builds without OpenCV 4, and installing packages."""
import fcntl
import os
import pathlib
import shutil

from harness import Skip, expect, python, test, top

reads = ("meson.build", "meson_options.txt", "docs/meson.build", "gst/meson.build", "cuda/meson.build")  # in addition to SHARED of run.py


@test("installed scripts find their shared files and run")
def _(place):
    place.succeed("meson", "install", "-C", place.build, "--no-rebuild", DESTDIR=str(place.folder / "root"))
    tools, = (place.folder / "root").glob("**/gst-cudavision/pipelines")
    expect((tools.parent / "scripts/setup.sh").exists() and not list(tools.glob("**/*.cpp")) and not list(tools.glob("**/__pycache__")),
           f"{sorted(path.name for path in tools.iterdir())}")
    left, right = (place.materials / f"{side}.png" for side in ("left", "right"))
    for command in ((tools / "binarise.sh", left, "out.png"), (python, tools / "disparity.py", left, right, "--property", "num-disparities=32"),
                    (python, tools / "calibrate.py", "--help"), (python, tools / "blur-faces.py", "--help"), ("python3", tools / "archive.py", "--help")):
        result = place.run(*command)
        expect(result.status == 0, f"{command}: {result.last()}")
    # The link leads to the programs in the prefix.
    programs = place.folder / "root" / (tools / "programs").readlink().relative_to("/")
    result = place.run(programs / "mark-regions", "--help")
    expect(result.status == 0 and "usage: mark-regions" in result.out, result.last())
    # This link leads to the plug-in. Below, the installed scripts can find the plug-in only through it.
    plugin = place.folder / "root" / (tools / "plugin").readlink().relative_to("/")
    expect((plugin / "libgstcudavision.so").exists(), f"{plugin}")
    (tools / "plugin").unlink()
    (tools / "plugin").symlink_to(plugin)
    expect(place.run("gst-inspect-1.0", "cudavision", GST_PLUGIN_PATH="").status != 0, "GStreamer finds another plug-in here")
    for command in ((tools / "binarise.sh", left, "own.png"), (python, tools / "disparity.py", left, right, "--property", "num-disparities=32")):
        result = place.run(*command, GST_PLUGIN_PATH="")
        expect(result.status == 0, f"{command}: {result.last()}")
    for path, expected in (("", str(plugin)), ("/elsewhere", f"/elsewhere:{plugin}")):
        result = place.run("python3", "-c", "import archive; print(archive.gstreamer_variables()['GST_PLUGIN_PATH'])",
                           PYTHONPATH=str(tools), GST_PLUGIN_PATH=path)
        expect(result.out == f"{expected}\n", result.text)


@test("the build reports that OpenCV 4 is missing, and its effect on rectification")
def _(place):
    for program in ("meson", "pkg-config"):
        if not shutil.which(program):
            raise Skip(f"there is no {program}")
    # pkg-config finds all packages except OpenCV 4, and a fake OpenCV 5.
    packages = place.folder / "packages"
    packages.mkdir()
    for folder in place.run("pkg-config", "--variable=pc_path", "pkg-config").out.strip().split(":"):
        for file in pathlib.Path(folder).glob("*.pc"):
            if file.name != "opencv4.pc" and not (packages / file.name).exists():
                (packages / file.name).symlink_to(file)
    (packages / "opencv5.pc").write_text("Name: OpenCV\nDescription: -\nVersion: 5.0.0\n")
    missing = "opencv4.pc; OpenCV 5 is installed, which is not supported"
    for value, status in (("auto", 0), ("enabled", 1), ("disabled", 0)):
        result = place.run("meson", "setup", place.folder / value, top, f"-Dopencv={value}", "-Dcuda=disabled", "-Dtests=disabled",
                           "-Dbenchmarks=disabled", PKG_CONFIG_LIBDIR=str(packages), PKG_CONFIG_PATH="")
        expect(result.status == status, f"{value}: {result.text}")
        said = [line for line in result.text.splitlines() if missing in line]
        expect(len(said) == {"auto": 2, "enabled": 1, "disabled": 0}[value], f"{value}: {said}")
        # The error names the necessary OpenCV modules.
        expect(value != "enabled" or "core, imgproc and calib3d" in said[0], f"{said}")


@test("the explanation of a missing CUDA toolkit also fits scripts that end after it")
def _(place):
    result = place.run("bash", "-c", f". {top}/scripts/setup.sh; explain_toolkit 'nvcc is old.'")
    expect("but nvcc is old.\nWithout a suitable toolkit, the elements run on the CPU only." in result.err and "Until then" not in result.err, result.text)


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
