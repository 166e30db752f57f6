# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the commands of README.md and docs/ in a folder that looks like the tree after `ninja -C build`; checks only the options
of slow scripts. If a camera, a GPU or Ray is missing, the command must report it."""
import pathlib
import re
import shlex
import shutil
import time

from harness import Skip, expect, test, top
from test_archive import Cluster, python_with_ray

reads = ("",)  # the commands of the documentation may concern any file

pages = [top / "README.md", *sorted((top / "docs").glob("**/*.md"))]

# Scripts that replace programs that change the machine or take minutes.
stand_ins = {
    "sudo": 'exec "$@"\n',
    # All Debian packages must exist; nothing is installed.
    "apt-get": '[[ $* == *./*.deb ]] || exec /usr/bin/apt-get --simulate -qq "$@"\n',
    # A build folder is set up for real only with --prefix; otherwise this build is used.
    "meson": """
PATH=${PATH#*:}
case "$1 $*" in
  "setup "*--prefix=*) exec meson setup set-up "$TREE" "${@:3}" -Dcuda=disabled ;;
  "setup "*) ;;
  "install "*) DESTDIR=$PWD/root exec meson install -C build --no-rebuild ;;
  "test "*) exec meson "$@" --no-rebuild --list ;;
  *) exec meson "$@" ;;
esac
""",
    # No image is built, because that takes minutes; the build arguments must exist in Containerfile.
    "podman": """
[[ $1 != build ]] || for word in "$@"; do
  [[ $word != *=* ]] || grep -q "^ARG ${word%%=*}=" Containerfile || { echo "Containerfile has no ${word%%=*}"; exit 1; }
done
[[ $1 != run ]] || exec "${@:4}"
""",
    # ninja -n only checks that the targets exist.
    "ninja": 'PATH=${PATH#*:}\nexec ninja -n "${@/build-install/build}" >/dev/null\n',
}

# These scripts run the tests themselves or build for many minutes, so only their --help is checked for the options.
only_help = re.compile(r"(?:tar .*bash )?(?:bash )?((?:tests|tests/gpu|pipelines/packaging)/[\w-]+\.sh|run-gpu\.sh|"
                       r"pipelines/(?:quickstart|bench)\.sh)( .*)?")


def commands_of(page):
    """Yields the commands of a page, without their comments."""
    for block in re.findall(r"^ *```sh\n(.*?)^ *```$", page.read_text(), re.M | re.S):
        for line in block.splitlines():
            if line.strip() and not line.strip().startswith("#"):
                yield re.sub(r"\s+# .*", "", line.strip())


def unavailable(place, command):
    """Returns the words that a command must print because this machine lacks something; None if it must succeed."""
    for element in re.findall(r"\b(nvh26\w+|nvv4l2\w+|nvvidconv)", command):
        if place.run("gst-inspect-1.0", element).status != 0:
            return f'no element "{element}"'
    if "archive.py" in command and not python_with_ray():
        return "pip install ray tqdm"
    cameras = re.findall(r"/dev/video\d+", command) or ["/dev/video0"]
    if "v4l2src" in command or "/dev/video" in command:
        if pathlib.Path(cameras[0]).exists():
            raise Skip("there is a camera here, and nobody who would look at it")
        return "Cannot identify device '/dev/video"
    if command == "nvidia-smi" and not shutil.which("nvidia-smi"):
        return "nvidia-smi: command not found"
    return None


def as_it_can_run(command):
    """Replaces each ellipsis, which stands for the reader's own pipeline, with elements."""
    if command.startswith("…"):
        command = command.replace("…", "gst-launch-1.0 videotestsrc num-buffers=2", 1).replace("…", "fakesink")
    return command.replace("…", "videotestsrc num-buffers=1 ! cudahistequalize ! fakesink")


def plays(place, text):
    """Returns True if a command's frames have reached the end of its pipeline."""
    file = re.search(r"Writing (\S+)", text)
    if file:
        file = place.folder / file.group(1)
        return file.exists() and file.stat().st_size > 1000
    return "PLAYING" in text or "sigma goes" in text or "?token=" in text


def execute(place, command):
    slow = only_help.fullmatch(command)
    if slow:
        script, arguments = slow.groups("")
        text = place.run(place.folder / script.replace("run-gpu.sh", "tests/gpu/run-gpu.sh"), "--help").out
        unknown = [word for word in shlex.split(arguments) if word.startswith("--") and word not in text]
        expect(text and not unknown, f"{script} --help does not explain {unknown}")
        return
    missing = unavailable(place, command)
    if "archive.py" in command and missing is None:
        Cluster.join(place)
        place.stand_in("python3", f'exec {python_with_ray()} "$@"\n')
        command += " --backend=cpu"
    running = place.start("bash", "-c", as_it_can_run(command), DISPLAY=":0", GST_PLUGIN_FEATURE_RANK="fakevideosink:MAX",
                          SHELL="/bin/bash")
    # Commands that show a camera or a video in a window run long, so Ctrl-C ends them after a moment.
    if re.search(r"autovideosink|x264enc|blur(-faces)?\.(sh|py)|explore\.py", command) and "archive.py" not in command and missing is None:
        # Waits until frames reach the end, because blur-faces.py first looks for faces in the whole video.
        running.wait_until(lambda: plays(place, running.text()))
        time.sleep(0.5)
        result = running.interrupt()
    else:
        result = running.finish()
    if missing is not None:
        expect(result.status != 0 and missing in result.text, f"it does not say {missing}: {result.last()}")
        return
    # A page searches for missing libraries with grep, whose status is 1 if none is missing.
    good = 1 if "grep 'not found'" in command else 0
    # Ctrl-C also ends the programs that read from a pipeline.
    expect((result.status == good or "| sed" in command and result.status == 130) and "erroneous pipeline" not in result.text, result.last())


def make_tree(place):
    """Links the tree and this build folder into the test's folder, and makes the files that the pages' commands read."""
    for entry in top.iterdir():
        if not entry.name.startswith((".git", "build")):
            (place.folder / entry.name).symlink_to(entry)
    (place.folder / "build").symlink_to(place.build)
    for film in ("film.mp4", "night.mp4"):
        (place.folder / film).symlink_to(place.materials / "film.mp4")
    for film in ("depth.mkv", "rig.mkv"):  # copies, because commands overwrite these files
        shutil.copy(place.materials / film, place.folder)
    for name, file in (("films", "film.mp4"), ("photographs", "picture.png")):
        (place.folder / name).mkdir()
        (place.folder / name / file).symlink_to(place.materials / file)
    home = place.folder / "home"
    (home / ".cache/gstreamer-1.0").mkdir(parents=True)
    (home / ".cache/gstreamer-1.0/registry.x86_64.bin").touch()
    place.environment.update(HOME=str(home), TREE=str(top))
    for name, text in stand_ins.items():
        place.stand_in(name, text)


def register():
    seen = {}
    for page in pages:
        for command in commands_of(page):
            seen.setdefault(command, page.relative_to(top))
    for command, page in seen.items():
        @test(f"command of {page}: {command if len(command) < 70 else command[:40] + ' … ' + command[-28:]}")
        def _(place, command=command):
            make_tree(place)
            execute(place, command)

    @test("README.md and docs/ have commands, and those for packages name all that is needed")
    def _(place):
        expect(len(seen) > 40, f"only {len(seen)} commands were found")
        for name, what in (("packages_build", "g++"), ("packages_run", "gstreamer1.0-tools gstreamer1.0-plugins-base"),
                           ("packages_display", "gstreamer1.0-x"), ("packages_python", "python3-gi")):
            needed = place.run("bash", "-c", f". {top}/scripts/setup.sh; echo ${{{name}[*]}}").out.split()
            lines = [command for command in seen if f"apt-get install {what}" in command or f" {what} " in f"{command} "]
            lines = [line for line in lines if "apt-get install" in line]
            expect(needed and lines, f"nothing installs {name}")
            for line in lines:
                lacking = set(needed) - set(line.split())
                expect(not lacking, f"{line[:60]}… lacks {' '.join(sorted(lacking))}")


@test("docs/troubleshooting.md quotes the messages of gst-launch-1.0 about elements that do not link")
def _(place):
    page = (top / "docs/troubleshooting.md").read_text()
    quotes = [".*".join(map(re.escape, " ".join(quote.split()).split("…"))) for quote in re.findall(r"\*\*`([^`]+)`\*\*", page)]
    for elements in ("jpegenc ! jpegparse ! cudahistequalize", "video/x-raw,format=v308 ! cudahistequalize",
                     "'video/x-raw(memory:GLMemory)' ! cudahistequalize"):
        result = place.run("bash", "-c", f"gst-launch-1.0 videotestsrc ! {elements} ! fakesink")
        message = re.search(r"^WARNING: erroneous pipeline: (.*)", result.err, re.M)
        expect(message, f"{elements}: {result.last()}")
        expect(any(re.fullmatch(quote, message.group(1)) for quote in quotes), f"the page lacks \"{message.group(1)}\"")


register()
