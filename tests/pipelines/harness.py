# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared code of the tests of pipelines/: registers tests, and runs commands in a folder for each test."""
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time

top = pathlib.Path(__file__).resolve().parent.parent.parent
pipelines = top / "pipelines"
examples = pathlib.Path("/usr/share/doc/opencv-doc/examples/data")
python = "/usr/bin/python3"
full = os.environ.get("CUDAVISION_TEST_FULL") == "1"
# The default limit of a wait, in seconds. Only a hang reaches it, however busy the machine is.
watchdog = 600
tests = []

# Stops ignoring SIGINT, because shells start background jobs with SIGINT ignored, and the tested commands would inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Skip(Exception):
    pass


def test(name):
    """Registers a function that takes a Place as a test."""
    def register(function):
        tests.append((name, function))
        return function
    return register


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.text = out + err

    def last(self):
        lines = [line for line in self.text.splitlines() if line.strip()]
        return f"status {self.status}; " + (lines[-1] if lines else "no output")


class Place:
    """A folder for one test, and the environment in which GStreamer finds the elements of a build."""

    def __init__(self, build, scratch):
        self.build = build
        self.materials = scratch / "materials"
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("DISPLAY", "WAYLAND_DISPLAY", "GST_PLUGIN_FEATURE_RANK")}
        self.environment.update(
            GST_PLUGIN_PATH=str(build / "gst"), GST_REGISTRY=str(scratch / "registry"), HOME=str(scratch),
            LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1", MPLCONFIGDIR=str(scratch))

    def run(self, *command, timeout=watchdog, **environment):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env={**self.environment, **environment},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
        return Result(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def succeed(self, *command, **more):
        result = self.run(*command, **more)
        expect(result.status == 0, result.last())
        return result

    def script(self, name, *arguments, **more):
        return self.run(pipelines / name, *arguments, **more)

    def program(self, text, **more):
        """Runs a Python program that may import the modules of pipelines/."""
        return self.run(python, "-c", text, PYTHONPATH=str(pipelines), **more)

    def play(self, description, **more):
        """Plays a pipeline to its end. Every element must succeed."""
        return self._pipeline(f"{python} {top}/tests/pipelines/play.py {description}", description, **more)

    def gray(self, source):
        """Returns the frames of a file or of some elements, as bytes of GRAY8."""
        source = source if "!" in source else f"filesrc location={source} ! decodebin"
        self.play(f"{source} ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=.gray")
        return (self.folder / ".gray").read_bytes()

    def on_terminal(self, *command, awaited=None, answer=None, status=0):
        """Returns the output of a command on a terminal. Once the awaited text appears, creates the file "seen" and
        types the answer."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(str(command[0]), [str(word) for word in command], {**self.environment, "TERM": "xterm"})
        text = b""
        try:
            while select.select([terminal], [], [], watchdog)[0]:
                text += os.read(terminal, 4096)
                if awaited is not None and awaited in text and not (self.folder / "seen").exists():
                    (self.folder / "seen").touch()
                    os.write(terminal, answer or b"")
        except OSError:
            pass  # end of the output
        os.close(terminal)
        found = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = text.decode(errors="replace")
        expect(found == status, f"status {found}: {text[-200:]}")
        return text

    def launch(self, description):
        """Plays a pipeline with gst-launch-1.0, with a retry if the program hangs (play.py explains why). The pipeline must not
        contain elements of this project, because the retry could hide their hangs."""
        assert not re.search(r"! *cuda", description), description
        for seconds in (120, watchdog):
            try:
                return self._pipeline(f"gst-launch-1.0 {description}", description, timeout=seconds)
            except subprocess.TimeoutExpired:
                print(f"# gst-launch-1.0 did not end within {seconds} s: {description}", flush=True)
        raise AssertionError(f"gst-launch-1.0 hangs: {description}")

    def _pipeline(self, command, description, **more):
        result = self.run("bash", "-c", f"exec {command}", **more)
        expect(result.status == 0, f"{description}: {result.last()}")
        return result

    def start(self, *command, **environment):
        return Running(self, command, environment)

    def stand_in(self, name, text):
        """Puts a script in place of the program of that name, for all commands of this test."""
        folder = self.folder / "stand-ins"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/bash\n" + text)
        (folder / name).chmod(0o755)
        if not self.environment["PATH"].startswith(str(folder)):
            self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"

    def files(self):
        return sorted(path.name for path in self.folder.iterdir() if path.name not in ("stand-ins", ".log", ".gray"))

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Running:
    """A command in its own session, so that Ctrl-C reaches all processes of the command and no others."""

    def __init__(self, place, command, environment):
        self.log = open(place.folder / ".log", "w+b")
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=place.folder, env={**place.environment, **environment},
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True)

    def text(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def wait_until(self, reached):
        """Waits until reached() or the command has ended."""
        end = time.monotonic() + watchdog
        while self.process.poll() is None and not reached():
            if time.monotonic() > end:
                self.kill()
                raise AssertionError(f"nothing happens: {Result('none', self.text(), '').last()}")
            time.sleep(0.05)

    def runs(self):
        return self.process.poll() is None

    def interrupt(self):
        """Sends Ctrl-C if the command still runs, and waits for its end."""
        if self.runs():
            os.killpg(self.process.pid, signal.SIGINT)
        return self.finish()

    def finish(self):
        try:
            self.process.wait(watchdog)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it does not end: {Result('none', self.text(), '').last()}") from None
        return Result(self.process.returncode, self.text(), "")

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def turned(film):
    """Marks an MP4 video as rotated, as phones that are held upright do: the matrix in the track's header makes players
    rotate the video clockwise by 90 degrees."""
    at = film.index(b"tkhd") + 44
    one = 1 << 16
    return film[:at] + struct.pack(">9i", 0, one, 0, -one, 0, 0, 0, 0, 1 << 30) + film[at + 36:]


def make_materials(place):
    """Makes small videos and pictures."""
    folder = place.materials
    folder.mkdir()
    moving = "videotestsrc pattern=ball num-buffers=50"
    sound = "audiotestsrc num-buffers=85 ! audio/x-raw,rate=44100,channels=2 ! audioconvert ! avenc_aac ! aacparse ! m."
    for name, samples, mux in (("film.mp4", "I420", "mp4mux"), ("deep.mkv", "I420_10LE", "matroskamux")):
        place.play(f"{moving} ! video/x-raw,format={samples},width=192,height=144,framerate=25/1 "
                     f"! x264enc speed-preset=ultrafast ! h264parse ! {mux} name=m ! filesink location={folder / name} {sound}")
    # Makes two depth videos: one has only depth, the other has three tracks, depth first and then two cameras.
    depth = f"{moving} ! video/x-raw,format=GRAY16_LE,width=192,height=144,framerate=25/1 ! avenc_ffv1"
    picture = f"{moving} ! video/x-raw,format=I420,width=192,height=144,framerate=25/1 ! x264enc tune=zerolatency ! m."
    place.play(f"{depth} ! matroskamux ! filesink location={folder / 'depth.mkv'}")
    place.play(f"{depth} ! m. {picture} {picture} matroskamux name=m ! filesink location={folder / 'rig.mkv'}")
    place.play(f"videotestsrc pattern=smpte num-buffers=75 ! video/x-raw,format=I420,width=192,height=144,framerate=25/1 ! x264enc "
                 f"speed-preset=ultrafast key-int-max=25 ! h264parse ! mp4mux faststart=true name=m ! filesink location={folder / 'lying.mp4'} "
                 f"{sound.replace('85', '130')}")
    (folder / "turned.mp4").write_bytes(turned((folder / "lying.mp4").read_bytes()))
    place.play("videotestsrc pattern=smpte num-buffers=1 ! video/x-raw,format=RGB,width=192,height=144 ! pngenc "
                 f"! filesink location={folder / 'picture.png'}")
    # Makes a left picture of noise, and a right picture that is shifted by 6 pixels.
    width, height, disparity = 96, 48, 6
    noise = random.Random(1)
    left = [bytes(noise.randrange(256) for _ in range(width)) for _ in range(height)]
    right = [row[disparity:] + row[-disparity:] for row in left]
    for side, rows in (("left", left), ("right", right)):
        (folder / f"{side}.raw").write_bytes(b"".join(rows))
        place.play(f"filesrc location={folder / side}.raw blocksize={width * height} ! rawvideoparse format=gray8 "
                     f"width={width} height={height} framerate=25/1 ! pngenc snapshot=true ! filesink location={folder / side}.png")
    packed = b"".join(a + b for a, b in zip(left, right))
    for name, frame, columns in (("left", b"".join(left), width), ("right", b"".join(right), width), ("packed", packed, 2 * width)):
        (folder / f"{name}-film.raw").write_bytes(25 * frame)
        place.play(f"filesrc location={folder / name}-film.raw blocksize={columns * height} ! rawvideoparse format=gray8 "
                     f"width={columns} height={height} framerate=25/1 ! videoconvert ! vp8enc deadline=1 target-bitrate=4000000 "
                     f"! matroskamux ! filesink location={folder / name}.mkv")
