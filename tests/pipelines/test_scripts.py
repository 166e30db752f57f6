# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the messages and the exit status of the scripts in pipelines/."""
import re
import shutil
import time

from harness import Skip, examples, expect, pipelines, test, top

reads = ("docs/", "tests/")  # in addition to SHARED of run.py

scripts = sorted(path.name for path in pipelines.glob("*.sh") if path.name != "env.sh")
# With these variables, GStreamer chooses fakevideosink, so scripts that open windows work without a display.
window = {"DISPLAY": ":0", "GST_PLUGIN_FEATURE_RANK": "fakevideosink:MAX"}


@test("every script supports --help")
def _(place):
    expect(len(scripts) >= 11, f"only {len(scripts)} scripts were found")
    for name in scripts:
        result = place.script(name, "--help")
        expect(result.status == 0 and not result.err, f"{name}: {result.last()}")
        expect(f"\n  pipelines/{name}" in result.out and "shellcheck" not in result.out, f"{name}: {result.out[:100]}")


@test("all other scripts support --help")
def _(place):
    # Scripts without support of --help would start these programs, which now fail.
    for name in ("gst-launch-1.0", "meson", "ninja", "pkg-config"):
        place.stand_in(name, "exit 1\n")
    found = [path for folder in ("docs", "tests", "pipelines/packaging") for path in sorted((top / folder).glob("**/*.sh"))
             if path.read_text().startswith("#!")]  # other files are sourced by scripts
    expect(len(found) >= 10, f"only {len(found)} scripts were found")
    for path in found:
        result = place.run(path, "--help")
        expect(result.status == 0 and result.out.startswith("usage: ") and path.name in result.out.splitlines()[0] and not result.err,
               f"{path.name}: {result.last()}")
        # tests/debian13.sh passes unknown arguments to tests/run.sh.
        if path.name != "debian13.sh":
            result = place.run(path, "--nonsense")
            expect(result.status == 2 and "usage: " in result.err, f"{path.name}: {result.last()}")


@test("every script refuses unknown arguments with its own message")
def _(place):
    for name in scripts:
        for arguments in (["--nonsense"], ["a.mp4", "b.mp4", "c.mkv", "d", "e"]):
            result = place.script(name, *arguments)
            expect(result.status == 2, f"{name} {' '.join(arguments)}: {result.last()}")
            expect(result.err.startswith(f"{name}: ") and "usage: pipelines/" in result.err and ": line " not in result.err,
                   f"{name}: {result.err}")


@test("scripts check their arguments before they begin to write")
def _(place):
    picture, film, left, right = (place.materials / name for name in ("picture.png", "film.mp4", "left.png", "right.png"))
    (place.folder / "words.txt").write_text("no picture\n" * 100)
    (place.folder / "folder.png").mkdir()
    for name, arguments, words in (
            ("binarise.sh", ["--radius"], "--radius needs a value"),
            ("binarise.sh", ["--radius", "far"], "--radius needs a whole number from 0 to 65535"),
            ("binarise.sh", ["--radius", "65536"], "--radius needs a whole number from 0 to 65535"),
            ("binarise.sh", ["--method=otsu"], "--method needs one of sauvola bradley"),
            ("binarise.sh", [picture, "out.gif"], "use .png or .jpg or .jpeg"),
            ("binarise.sh", [picture, "none/out.png"], "there is no folder none"),
            ("binarise.sh", [picture, picture], "this is the input itself"),
            ("binarise.sh", [picture, "folder.png"], "folder.png: this is a folder; name a file"),
            ("binarise.sh", ["words.txt"], "this is not a picture or video"),
            ("binarise.sh", [place.materials, "words.txt"], "words.txt: this is a file; name a folder"),
            ("binarise.sh", [film, "out.png"], "use .mkv or .mp4 or .webm"),
            ("binarise.sh", [examples / "nothing.png"], "Debian's package opencv-doc"),
            ("blur.sh", ["--sigma", "500"], "--sigma needs a number from 0.1 to 127"),
            ("blur.sh", [picture], "is a picture"),
            ("clahe.sh", ["--clip-limit", "high"], "--clip-limit needs a number from 0 to 65536"),
            ("clahe.sh", ["--tiles=65"], "--tiles needs a whole number from 1 to 64"),
            ("clahe.sh", [picture, "out.mkv"], "use .png or .jpg or .jpeg"),
            ("denoise.sh", ["--search", "10"], "--search needs an odd number from 1 to 101"),
            ("denoise.sh", ["--strength=-1"], "--strength needs a number from 0 to 255"),
            ("encode.sh", [film], "an argument is missing"),
            ("encode.sh", [film, "out.mp4"], "use .mkv"),
            ("file.sh", [], "an argument is missing"),
            ("file.sh", ["none.png"], "there is no such file"),
            ("file.sh", ["folder.png"], "folder.png: this is a folder; name a file"),
            ("gpu-decode.sh", [picture], "is not a video"),
            ("stereo-files.sh", [left], "the right picture is missing"),
            ("stereo-files.sh", [left, film], "name two photographs or two videos"),
            ("stereo-files.sh", [left, right, "out.jpg"], "use .png"),
            ("stereo-files.sh", ["num-disparities=7", left, right], "num-disparities"),
            ("stereo-files.sh", ["nonsense=7", left, right], 'no property "nonsense"'),
            ("stereo-files.sh", ["output=depth", left, right], "focal-length"),
            ("stereo-cameras.sh", ["/dev/video97"], "the right camera is missing"),
            ("stereo-cameras.sh", [left, right], "is not a camera"),
            ("stereo-packed.sh", ["frame-packing=checkers", film], "frame-packing"),
            ("camera.sh", [film], "is not a camera"),
            ("privacy.sh", ["--shape", "star"], "--shape needs one of rectangle ellipse"),
            ("privacy.sh", ["--missing", "some"], "--missing needs one of all pass"),
            ("privacy.sh", ["--persistence", "long"], "--persistence needs a number from 0 to 86400"),
            ("privacy.sh", ["--sigma", "0"], "--sigma needs a number from 0.1 to 127"),
            ("privacy.sh", ["words.txt"], "is missing"),
            ("privacy.sh", ["none.txt", film], "none.txt: there is no such file"),
            ("privacy.sh", ["folder.png", film], "folder.png: this is a folder; name a file"),
            ("privacy.sh", ["words.txt", picture], "is not a video"),
            ("privacy.sh", ["words.txt", film, "out.png"], "use .mkv or .mp4 or .webm"),
            ("quickstart.sh", ["folder.png"], "folder.png: this is a folder; name a file"),
            ("quickstart.sh", ["none.mp4"], "there is no such file or camera")):
        result = place.script(name, *arguments)
        expect(result.status in (1, 2) and words in result.err, f"{name} {arguments}: {result.text}")
        expect("Writing" not in result.text and place.files() == ["folder.png", "words.txt"], f"{name} {arguments}: it begins to write")


@test("scripts report missing cameras")
def _(place):
    for name, arguments in (("camera.sh", ["/dev/video97"]), ("stereo-cameras.sh", ["/dev/video97", "/dev/video98"]),
                            ("stereo-packed.sh", ["/dev/video97"]), ("blur.sh", ["/dev/video97"]),
                            ("binarise.sh", ["/dev/video97"]), ("clahe.sh", ["/dev/video97"]), ("denoise.sh", ["/dev/video97"])):
        result = place.script(name, *arguments)
        expect(result.status == 1 and "/dev/video97: there is no such camera" in result.err, f"{name}: {result.last()}")


@test("the contents of files match their extensions")
def _(place):
    picture, film = place.materials / "picture.png", place.materials / "film.mp4"
    kinds = {"png": b"\x89PNG", "jpg": b"\xff\xd8\xff", "mkv": b"matroska", "webm": b"webm", "mp4": b"ftyp"}
    for name, source, out in (("binarise.sh", picture, "a.jpg"), ("binarise.sh", picture, "b.png"),
                              ("binarise.sh", film, "c.webm"), ("file.sh", picture, "d.jpg"), ("file.sh", film, "e.mkv"),
                              ("blur.sh", film, "f.webm"), ("denoise.sh", film, "g.mkv"),
                              ("clahe.sh", picture, "h.png"), ("clahe.sh", film, "i.mkv"), ("blur.sh", film, "j.mp4")):
        result = place.script(name, *(["--search=3"] if name == "denoise.sh" else []), source, out)
        expect(result.status == 0 and f"Writing {out}\n" in result.out, f"{name} {out}: {result.last()}")
        head = (place.folder / out).read_bytes()[:64]
        expect(kinds[out.split(".")[1]] in head, f"{name} {out}: {head}")


@test("without a display scripts write into files")
def _(place):
    picture, film, packed, left, right = (place.materials / name for name in (
        "picture.png", "film.mp4", "packed.mkv", "left.mkv", "right.mkv"))
    for name, arguments, out in (("binarise.sh", [film], "binarised.mkv"), ("blur.sh", [film], "blur.mkv"),
                                 ("clahe.sh", [film], "clahe.mkv"),
                                 ("denoise.sh", ["--search=5", film], "denoised.mkv"), ("file.sh", [film], "equalised.mkv"),
                                 ("privacy.sh", [pipelines / "street-regions.txt", film], "privacy.mkv"),
                                 ("file.sh", [picture], "equalised.png"),
                                 ("stereo-packed.sh", ["num-disparities=32", packed], "disparity.mkv"),
                                 ("stereo-files.sh", ["num-disparities=32", left, right], "disparity.mkv")):
        result = place.script(name, *arguments)
        expect(result.status == 0 and "There is no display" in result.out, f"{name}: {result.last()}")
        expect(place.files() == [out] and (place.folder / out).stat().st_size > 500, f"{name}: {place.files()}")
        (place.folder / out).unlink()


@test("pipelines/file.sh shows a picture until it is interrupted")
def _(place):
    shown = place.start(pipelines / "file.sh", place.materials / "picture.png", **window)
    shown.wait_until(lambda: "PLAYING" in shown.text())
    time.sleep(1)
    expect(shown.runs(), f"it closes at once: {shown.text()}")
    result = shown.interrupt()
    expect(result.status == 0 and not place.files(), result.last())


@test("closing the window is not an error")
def _(place):
    message = "ERROR: from element /GstPipeline:pipeline0/GstXImageSink:sink: "
    for text, status in (("Output window was closed", 0), ("Quit requested", 0), ("Out of paper", 1)):
        place.stand_in("gst-launch-1.0", f'echo "{message}{text}" >&2\necho "Additional debug info:" >&2\nexit 1\n')
        result = place.script("file.sh", place.materials / "film.mp4", **window)
        expect(result.status == status and (text in result.err) == bool(status), f"{text}: {result.last()}")


@test("a pipeline that fails leaves no empty file")
def _(place):
    place.stand_in("gst-launch-1.0", "touch out.png out.mkv\nexit 1\n")
    for source, out in (("picture.png", "out.png"), ("film.mp4", "out.mkv")):
        result = place.script("file.sh", place.materials / source, out)
        expect(result.status == 1 and out not in place.files(), f"{result.last()}; {place.files()}")


@test("a pipeline that hangs after an error is ended")
def _(place):
    error = "echo 'ERROR: from element /GstPipeline:pipeline0/GstFileSrc:filesrc0: The tape is stuck.' >&2\n"
    # The program `waits` ends at the second Ctrl-C, like gst-launch-1.0 -e. The program `deaf` ignores Ctrl-C and needs SIGKILL.
    waits = error + "trap 'trap \"trap - INT; kill -INT $$\" INT' INT\nwhile sleep 0.1; do :; done\n"
    deaf = error + "trap '' INT\nexec sleep infinity\n"
    film, picture = (place.materials / name for name in ("film.mp4", "picture.png"))
    for hanging, script, source, out in ((waits, "file.sh", film, "out.mkv"), (deaf, "file.sh", picture, "out.png"),
                                         (waits, "encode.sh", film, "out.mkv")):
        place.stand_in("gst-launch-1.0", hanging)
        result = place.script(script, source, out)
        expect(result.status == 1 and "The tape is stuck" in result.err, f"{script} {source.name}: {result.last()}")


@test("long work prints its progress on a terminal")
def _(place):
    text = place.on_terminal(pipelines / "blur.sh", place.materials / "film.mp4", "blur.mkv")
    expect(re.search(r"\r\d+\.\d s of 2\.\d s", text), f"blur.sh: {text[-200:]!r}")
    text = place.on_terminal(pipelines / "denoise.sh", "--search=9", place.materials / "film.mp4", "denoised.mkv")
    expect(re.search(r"\r0:00:0\d", text), f"denoise.sh: {text[-200:]!r}")
    place.stand_in("gst-launch-1.0", f"until [[ -e {place.folder}/seen ]]; do sleep 0.1; done\n")
    place.on_terminal(pipelines / "binarise.sh", place.materials / "picture.png", "a.png", awaited=b"\r2 s")


@test("pipelines/quickstart.sh makes its pictures")
def _(place):
    # Uses the existing build, because the script's own build takes minutes.
    place.stand_in("meson", f"mkdir -p \"$2\"\nln -sfn {place.build}/gst \"$2/gst\"\n")
    place.stand_in("ninja", "true\n")
    # Copies the scripts, because a script resolves links and would build next to the original file.
    for entry in ("pipelines", "scripts"):
        shutil.copytree(pipelines.parent / entry, place.folder / "tree" / entry)
    result = place.run(place.folder / "tree/pipelines/quickstart.sh", place.materials / "film.mp4")
    expect(result.status == 0 and "backend: " in result.out, result.last())
    expect("backend: cuda" in result.out or "Frames are processed on the CPU" in result.out, "it does not say why it ran on the CPU")
    made = sorted(path.name for path in (place.folder / "tree/build-quickstart/pictures").iterdir())
    expect(made == [f"film-{kind}.png" for kind in ("before", "binarised", "blurred", "equalised")], f"{made}")


@test("pipelines/gpu-decode.sh reports what it needs")
def _(place):
    if place.run("gst-inspect-1.0", "nvh264dec").status == 0:
        raise Skip("there is a decoder on a GPU here")
    result = place.script("gpu-decode.sh", place.materials / "film.mp4")
    expect(result.status == 1 and "no element nvh264dec here: it needs an NVIDIA card" in result.err, result.last())


@test("scripts work through links, and with CDPATH")
def _(place):
    (place.folder / "clahe").symlink_to(pipelines / "clahe.sh")
    result = place.run("./clahe", place.materials / "left.png", "out.png")
    expect(result.status == 0 and (place.folder / "out.png").stat().st_size > 300, result.text)
    result = place.run("bash", "-c", f'cd {top} && . pipelines/env.sh && echo "$pipelines"', CDPATH=".")
    expect(result.out == f"{pipelines}\n", result.text)
