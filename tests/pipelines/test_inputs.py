# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests scripts and examples with rotated videos, several sound tracks, URIs, unusual file names and a German GStreamer."""
import functools
import http.server
import threading

from harness import Skip, expect, pipelines, python, test


class Server:
    """A local file server."""

    def __init__(self, folder):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.uri = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@test("scripts and examples rotate videos as players do")
def _(place):
    lying, turned = (place.materials / name for name in ("lying.mp4", "turned.mp4"))
    expected = place.gray(f"filesrc location={lying} ! decodebin ! videoconvert ! videoflip video-direction=90r")
    expect(len(expected) == 75 * 192 * 144, f"{len(expected)} bytes")
    source = place.run("bash", "-c", f'. {pipelines}/env.sh; source_of {turned}; echo "${{source[*]}}"').out.strip()
    expect(place.gray(source) == expected, "the source of the scripts")
    source = place.run(python, "-c", f"import sys; sys.path.insert(0, '{pipelines}'); import frames; print(frames.source_of('{turned}'))").out.strip()
    expect(place.gray(source) == expected, "the source of the examples")
    # The encoder changes the pixels, so the first frames may differ a little.
    place.succeed(pipelines / "encode.sh", turned, "out.mkv")
    encoded = place.gray("out.mkv")
    expect(len(encoded) == len(expected), f"{len(encoded)} bytes")
    equalized = place.gray(f"filesrc location={lying} ! decodebin ! videoconvert ! video/x-raw,format=I420 ! cudahistequalize backend=cpu "
                           "! videoflip video-direction=90r")
    differences = sum(abs(a - b) for a, b in zip(encoded[:192 * 144], equalized)) / (192 * 144)
    expect(differences < 8, f"the first frame differs by {differences:.1f} on average")
    expect(b"A_AAC" in (place.folder / "out.mkv").read_bytes(), "the sound is gone")


@test("pipelines/encode.sh keeps all sound tracks")
def _(place):
    place.play("videotestsrc num-buffers=25 ! video/x-raw,width=64,height=64,framerate=25/1 ! x264enc ! h264parse ! matroskamux name=m "
                 "! filesink location=two.mkv audiotestsrc num-buffers=43 ! audioconvert ! avenc_aac ! aacparse ! m. "
                 "audiotestsrc num-buffers=43 freq=880 ! audioconvert ! avenc_ac3 ! ac3parse ! m.")
    result = place.script("encode.sh", "two.mkv", "out.mkv")
    written = (place.folder / "out.mkv").read_bytes()
    expect(result.status == 0 and b"A_AAC" in written and b"A_AC3" in written, result.last())


@test("scripts and examples accept URIs in place of cameras")
def _(place):
    place.environment.update(no_proxy="127.0.0.1")
    with Server(place.materials) as server:
        film, left, right = (f"{server.uri}/{name}" for name in ("lying.mp4", "left.png", "right.png"))
        for name, arguments in (("camera.sh", [film]), ("binarise.sh", [film]), ("stereo-cameras.sh", ["num-disparities=32", film, film])):
            result = place.script(name, *arguments, "out.mkv")
            expect(result.status == 0 and (place.folder / "out.mkv").stat().st_size > 1000, f"{name}: {result.last()}")
            (place.folder / "out.mkv").unlink()
        result = place.run(python, pipelines / "integral.py", film, "--frames", "3")
        expect(result.status == 0 and result.out.count("brightest at") == 3, result.last())
        result = place.run(python, pipelines / "disparity.py", left, right, "map.npy", "--property", "num-disparities=32")
        expect(result.status == 0 and result.out.startswith("96x48, ") and " % of the disparities known\n" in result.out, result.last())
        result = place.script("camera.sh", f"{server.uri}/none.mp4", "out.mkv")
        expect(result.status == 1 and "File not found (404)" in result.err, result.text)
    for name, arguments in (("camera.sh", ["rtsp://127.0.0.1:9/"]), ("denoise.sh", ["--search=3", "rtsp://127.0.0.1:9/"]),
                            ("stereo-packed.sh", ["rtsp://127.0.0.1:9/"])):
        result = place.script(name, *arguments, "out.mkv")
        expect(result.status == 1 and "rtspsrc" in result.err.lower(), f"{name}: {result.last()}")


@test("scripts accept files with any name")
def _(place):
    for name in ("a screen of 32\" for Mary's", "back\\slash", "\\\" both"):
        picture, film = place.folder / f"{name}.png", place.folder / f"{name}.mp4"
        picture.write_bytes((place.materials / "left.png").read_bytes())
        film.write_bytes((place.materials / "turned.mp4").read_bytes())
        for script, arguments in (("clahe.sh", [picture, f"{name}-out.png"]), ("stereo-files.sh", [picture, picture, f"{name}-map.png"]),
                                  ("encode.sh", [film, f"{name}-out.mkv"])):
            result = place.script(script, *arguments)
            expect(result.status == 0 and (place.folder / arguments[-1]).stat().st_size > 0, f"{script} with {name}: {result.last()}")


@test("scripts understand GStreamer in every language")
def _(place):
    place.environment.update(LANGUAGE="de")
    if "FEHLER" not in place.run("gst-launch-1.0", "none").text:
        raise Skip("GStreamer speaks no German here")
    result = place.script("encode.sh", place.materials / "turned.mp4", "out.mkv")
    expect(result.status == 0 and (place.folder / "out.mkv").stat().st_size > 1000, result.last())
    result = place.script("stereo-files.sh", "preset=none", place.materials / "left.png", place.materials / "right.png", "map.png")
    expect(result.status == 2 and 'could not set property "preset"' in result.err, result.text)
    result = place.script("stereo-files.sh", "num-disparities=1024", place.materials / "left.png", place.materials / "right.png", "map.png")
    expect("set num-disparities=96 or less" in result.text, result.text)
