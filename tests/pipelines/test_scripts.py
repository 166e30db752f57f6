# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scripts in pipelines/: what they say and what they write."""
import os
import pty
import random
import re
import select
import shutil
import time

from harness import Skip, examples, expect, pipelines, test, top, watchdog

reads = ("docs/", "tests/")  # besides what all tests read

scripts = sorted(path.name for path in pipelines.glob("*.sh") if path.name != "env.sh")
# Windows without a display: GStreamer takes this element for one.
window = {"DISPLAY": ":0", "GST_PLUGIN_FEATURE_RANK": "fakevideosink:MAX"}


@test("every script explains itself with --help")
def _(place):
    expect(len(scripts) >= 11, f"only {len(scripts)} scripts were found")
    for name in scripts:
        result = place.script(name, "--help")
        expect(result.status == 0 and not result.err, f"{name}: {result.last()}")
        expect(f"\n  pipelines/{name}" in result.out and "shellcheck" not in result.out, f"{name}: {result.out[:100]}")


@test("the other scripts explain themselves with --help, too")
def _(place):
    # The scripts would begin with these programs if they did not know --help.
    for name in ("gst-launch-1.0", "meson", "ninja", "pkg-config"):
        place.stand_in(name, "exit 1\n")
    found = [path for folder in ("docs", "tests", "pipelines/packaging") for path in sorted((top / folder).glob("**/*.sh"))
             if path.read_text().startswith("#!")]  # the others are parts of a script
    expect(len(found) >= 10, f"only {len(found)} scripts were found")
    for path in found:
        result = place.run(path, "--help")
        expect(result.status == 0 and result.out.startswith("usage: ") and path.name in result.out.splitlines()[0] and not result.err,
               f"{path.name}: {result.last()}")
        # tests/debian13.sh gives unknown arguments to tests/run.sh.
        if path.name != "debian13.sh":
            result = place.run(path, "--nonsense")
            expect(result.status == 2 and "usage: " in result.err, f"{path.name}: {result.last()}")


@test("every script refuses what it does not know, in words of its own")
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
    for name, arguments, words in (
            ("binarise.sh", ["--radius"], "--radius needs a value"),
            ("binarise.sh", ["--radius", "far"], "--radius needs a whole number from 0 to 65535"),
            ("binarise.sh", ["--radius", "65536"], "--radius needs a whole number from 0 to 65535"),
            ("binarise.sh", ["--method=otsu"], "--method needs one of sauvola bradley"),
            ("binarise.sh", [picture, "out.gif"], "let it end in .png or .jpg or .jpeg"),
            ("binarise.sh", [picture, "none/out.png"], "there is no folder none"),
            ("binarise.sh", [picture, picture], "this is the input itself"),
            ("binarise.sh", ["words.txt"], "this is not a picture or video"),
            ("binarise.sh", [film, "out.png"], "let it end in .mkv or .mp4 or .webm"),
            ("binarise.sh", [examples / "nothing.png"], "Debian's package opencv-doc"),
            ("blur.sh", ["--sigma", "500"], "--sigma needs a number from 0.1 to 127"),
            ("blur.sh", [picture], "is a picture"),
            ("clahe.sh", ["--clip-limit", "high"], "--clip-limit needs a number from 0 to 65536"),
            ("clahe.sh", ["--tiles=65"], "--tiles needs a whole number from 1 to 64"),
            ("clahe.sh", [picture, "out.mkv"], "let it end in .png or .jpg or .jpeg"),
            ("denoise.sh", ["--search", "10"], "--search needs an odd number from 1 to 101"),
            ("denoise.sh", ["--strength=-1"], "--strength needs a number from 0 to 255"),
            ("encode.sh", [film], "an argument is missing"),
            ("encode.sh", [film, "out.mp4"], "let it end in .mkv"),
            ("file.sh", [], "an argument is missing"),
            ("file.sh", ["none.png"], "there is no such file"),
            ("gpu-decode.sh", [picture], "is not a video"),
            ("stereo-files.sh", [left], "the right picture is missing"),
            ("stereo-files.sh", [left, film], "name two photographs or two videos"),
            ("stereo-files.sh", [left, right, "out.jpg"], "let it end in .png"),
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
            ("privacy.sh", ["words.txt", picture], "is not a video"),
            ("privacy.sh", ["words.txt", film, "out.png"], "let it end in .mkv or .mp4 or .webm"),
            ("quickstart.sh", ["none.mp4"], "there is no such file or camera")):
        result = place.script(name, *arguments)
        expect(result.status in (1, 2) and words in result.err, f"{name} {arguments}: {result.text}")
        expect("Writing" not in result.text and place.files() == ["words.txt"], f"{name} {arguments}: it begins to write")


@test("scripts name cameras that are missing")
def _(place):
    for name, arguments in (("camera.sh", ["/dev/video97"]), ("stereo-cameras.sh", ["/dev/video97", "/dev/video98"]),
                            ("stereo-packed.sh", ["/dev/video97"]), ("blur.sh", ["/dev/video97"]),
                            ("binarise.sh", ["/dev/video97"]), ("clahe.sh", ["/dev/video97"]), ("denoise.sh", ["/dev/video97"])):
        result = place.script(name, *arguments)
        expect(result.status == 1 and "/dev/video97: there is no such camera" in result.err, f"{name}: {result.last()}")


@test("files are what their names say")
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


@test("pipelines/file.sh shows a picture until it is told to end")
def _(place):
    shown = place.start(pipelines / "file.sh", place.materials / "picture.png", **window)
    shown.wait_until(lambda: "PLAYING" in shown.text())
    time.sleep(1)
    expect(shown.runs(), f"it closes at once: {shown.text()}")
    result = shown.interrupt()
    expect(result.status == 0 and not place.files(), result.last())


@test("a window that the user closes is no error")
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
    # The second Ctrl-C ends gst-launch-1.0 -e, and nothing but SIGKILL one that has stopped listening.
    waits = error + "trap 'trap \"trap - INT; kill -INT $$\" INT' INT\nwhile sleep 0.1; do :; done\n"
    deaf = error + "trap '' INT\nexec sleep infinity\n"
    film, picture = (place.materials / name for name in ("film.mp4", "picture.png"))
    for hanging, script, source, out in ((waits, "file.sh", film, "out.mkv"), (deaf, "file.sh", picture, "out.png"),
                                         (waits, "encode.sh", film, "out.mkv")):
        place.stand_in("gst-launch-1.0", hanging)
        result = place.script(script, source, out)
        expect(result.status == 1 and "The tape is stuck" in result.err, f"{script} {source.name}: {result.last()}")


def on_terminal(place, *command, awaited=None):
    """Returns the output of a command on a terminal. Makes the file "seen" once the awaited text is in it."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(place.folder)
        os.execve(str(command[0]), [str(word) for word in command], {**place.environment, "TERM": "xterm"})
    text = b""
    try:
        while select.select([terminal], [], [], watchdog)[0]:
            text += os.read(terminal, 4096)
            if awaited is not None and awaited in text:
                (place.folder / "seen").touch()
    except OSError:
        pass  # the end
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    expect(status == 0, f"status {status}: {text.decode(errors='replace')[-200:]}")
    return text.decode(errors="replace")


@test("long work prints how far it is on a terminal")
def _(place):
    text = on_terminal(place, pipelines / "blur.sh", place.materials / "film.mp4", "blur.mkv")
    expect(re.search(r"\r\d+\.\d s of 2\.\d s", text), f"blur.sh: {text[-200:]!r}")
    text = on_terminal(place, pipelines / "denoise.sh", "--search=9", place.materials / "film.mp4", "denoised.mkv")
    expect(re.search(r"\r0:00:0\d", text), f"denoise.sh: {text[-200:]!r}")
    place.stand_in("gst-launch-1.0", f"until [[ -e {place.folder}/seen ]]; do sleep 0.1; done\n")
    on_terminal(place, pipelines / "binarise.sh", place.materials / "picture.png", "a.png", awaited=b"\r2 s")


def film_of(place, name):
    """The format of a film's samples, and the bytes of its sound as the file has them."""
    demux = "qtdemux" if name.suffix == ".mp4" else "matroskademux"
    # gst-launch-1.0 -v can lose a line if two threads have one at the same moment, so decodebin leaves the sound out.
    log = place.launch(f"-v filesrc location={name} ! decodebin expose-all-streams=false caps='video/x-raw(ANY)' ! fakesink")
    place.play(f"filesrc location={name} ! {demux} name=d d.audio_0 ! queue ! filesink location=sound.raw d.video_0 ! queue ! fakesink")
    return (re.search(r"fakesink.*format=\(string\)(\w+)", log.text).group(1), (place.folder / "sound.raw").read_bytes())


def decoded_sound(place, name):
    # GStreamer can lose the end of so short a film if the frames are decoded as well, for no one.
    place.play(f"filesrc location={name} ! decodebin expose-all-streams=false caps=audio/x-raw ! audioconvert ! audio/x-raw,format=S16LE ! filesink location=decoded.raw")
    return (place.folder / "decoded.raw").read_bytes()


@test("pipelines/encode.sh keeps the sound and the depth")
def _(place):
    for name in ("film.mp4", "deep.mkv"):
        result = place.script("encode.sh", place.materials / name, "out.mkv")
        expect(result.status == 0, f"{name}: {result.last()}")
        before, after = film_of(place, place.materials / name), film_of(place, place.folder / "out.mkv")
        expect(after[0] == before[0], f"{name}: {before[0]} becomes {after[0]}")
        expect(before[1] and after[1] == before[1], f"{name}: {len(before[1])} bytes of sound become {len(after[1])}")
    # A film without sound, and one whose sound must be decoded.
    place.play("videotestsrc num-buffers=20 ! video/x-raw,width=64,height=64 ! jpegenc ! avimux ! filesink location=silent.avi")
    place.play("videotestsrc num-buffers=50 ! video/x-raw,width=64,height=64 ! x264enc ! h264parse ! mpegtsmux name=m "
                 "! filesink location=film.ts audiotestsrc num-buffers=70 ! audioconvert ! avenc_aac ! aacparse ! m.")
    for name, sound in (("silent.avi", False), ("film.ts", True)):
        result = place.script("encode.sh", name, "out.mkv")
        expect(result.status == 0, f"{name}: {result.last()}")
        expect((b"A_PCM" in (place.folder / "out.mkv").read_bytes()) == sound, f"{name}: {'no sound' if sound else 'sound'}")


# The streams of the films, and the name of their sound in Matroska. Some demuxers give packets that matroskamux refuses until a
# parser has looked at them.
for name, video, sound, mux, codec in (("flac.mkv", "x264enc ! h264parse", "flacenc ! flacparse", "matroskamux", b"A_FLAC"),
                                       ("mp3.mkv", "x264enc ! h264parse", "lamemp3enc ! mpegaudioparse", "matroskamux", b"A_MPEG/L3"),
                                       ("mp3.mp4", "x264enc ! h264parse", "lamemp3enc ! mpegaudioparse", "mp4mux", b"A_MPEG/L3"),
                                       ("ac3.ts", "x264enc ! h264parse", "avenc_ac3 ! ac3parse", "mpegtsmux", b"A_AC3"),
                                       ("mp2.ts", "x264enc ! h264parse", "avenc_mp2 ! mpegaudioparse", "mpegtsmux", b"A_MPEG/L2"),
                                       ("vorbis.ogv", "theoraenc", "vorbisenc", "oggmux", b"A_VORBIS"),
                                       ("opus.webm", "vp8enc", "opusenc", "webmmux", b"A_OPUS")):
    @test(f"pipelines/encode.sh keeps the sound of {name}")
    def _(place, name=name, video=video, sound=sound, mux=mux, codec=codec):
        for element in [*video.split(" ! "), *sound.split(" ! "), mux]:
            if place.run("gst-inspect-1.0", element).status != 0:
                raise Skip(f"GStreamer has no element {element} here")
        place.play(f"videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=64,height=64,framerate=25/1 ! {video} ! m. "
                     f"{mux} name=m ! filesink location={name} "
                     f"audiotestsrc num-buffers=85 ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! {sound} ! m.")
        before = decoded_sound(place, name)
        # On one processor, the threads of GStreamer meet at other places than on several.
        for command in ([], ["taskset", "--cpu-list", min(os.sched_getaffinity(0))]):
            result = place.run(*command, pipelines / "encode.sh", name, "out.mkv")
            expect(result.status == 0, result.last())
            expect(codec in (place.folder / "out.mkv").read_bytes(), f"it has no sound of the kind {codec.decode()}")
            after = decoded_sound(place, "out.mkv")
            expect(before and after == before, f"{len(before)} bytes of decoded sound become {len(after)}, or others")


def png_kind(path):
    """Width, height, bits per sample and colour type of a PNG."""
    head = path.read_bytes()[16:26]
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big"), head[8], head[9]


@test("pipelines/stereo-files.sh writes colours beside the 16-bit map")
def _(place):
    result = place.script("stereo-files.sh", "num-disparities=32", place.materials / "left.png", place.materials / "right.png", "map.png")
    expect(result.status == 0, result.last())
    kinds = png_kind(place.folder / "map.png"), png_kind(place.folder / "map-colors.png")
    expect(kinds == ((96, 48, 16, 0), (96, 48, 8, 2)), f"{kinds}")
    # Scripts take pictures of 16 bits, too.
    result = place.script("binarise.sh", "map.png", "binarised.png")
    expect(result.status == 0 and (place.folder / "binarised.png").stat().st_size > 0, result.last())


@test("pipelines/privacy.sh blurs the regions of a file, at their times, and nothing else")
def _(place):
    film = place.materials / "film.mp4"
    # The film has 50 frames in 2 s. The second region begins with frame 25, and the left edge cuts it off.
    (place.folder / "regions.txt").write_text("# heads\n0 1 10 8 120 128 head\n\n1 9 -20 60 168 40\n")
    result = place.script("privacy.sh", "--feather=0", "--shape=rectangle", "regions.txt", film, "out.mkv")
    expect(result.status == 0 and "Writing out.mkv" in result.out, result.last())
    # Nothing that may be meant as a region is left out.
    for line in ("0 1 16 24", "0 1 16 24 40 32px", "0 1 16 24 40 32 head 0 1 60 24 40 32", "0 1 16 24 40 1e30", "1 0 16 24 40 32"):
        (place.folder / "wrong.txt").write_text(f"0 1 16 24 40 32\n{line}\n")
        result = place.script("privacy.sh", "wrong.txt", film, "wrong.mkv")
        expect(result.status == 1 and f'wrong.txt, line 2: "{line}" is not BEGIN END X Y WIDTH HEIGHT' in result.err, f"{line}: {result.last()}")
    (place.folder / "wrong.txt").write_text("# nobody\n")
    result = place.script("privacy.sh", "wrong.txt", film, "wrong.mkv")
    expect(result.status == 1 and "wrong.txt: there is no region in this file" in result.err, result.last())

    # The same pipeline without an encoder, because that would change every pixel.
    decoded = f"filesrc location={film} ! decodebin ! videoconvert ! video/x-raw,format=GRAY8"
    place.play(f"{decoded} ! filesink location=in.raw")
    result = place.run(place.build / "pipelines" / "mark-regions", "regions.txt",
                       *f"{decoded} ! identity name=mark ! cudagaussblur backend=cpu sigma=9 use-roi-meta=true ! filesink location=out.raw".split())
    expect(result.status == 0, result.last())
    before, after = ((place.folder / name).read_bytes() for name in ("in.raw", "out.raw"))
    width, height = 192, 144
    expect(len(before) == len(after) == 50 * width * height, f"{len(before)} and {len(after)} bytes")
    changed = [0, 0]
    for n in range(50):
        first = n < 25
        x0, y0, x1, y1 = (10, 8, 130, 136) if first else (0, 60, 148, 100)
        for y in range(height):
            at = (n * height + y) * width
            for begin, end, inside in ((0, x0, False), (x0, x1, y0 <= y < y1), (x1, width, False)):
                if before[at + begin:at + end] != after[at + begin:at + end]:
                    expect(inside, f"frame {n} differs in row {y}, outside the region")
                    changed[0 if first else 1] += 1
    expect(min(changed) > 0, f"rows blurred in the first and second region: {changed}")


@test("pipelines/denoise.sh keeps what is thin")
def _(place):
    # A pale post of 3 pixels before a flat wall, with noise of a standard deviation of 6.
    noise = random.Random(2)
    width, height, frames = 384, 288, 5
    wall, post = 120, 145
    rows = [max(0, min(255, round((post if x % 48 < 3 else wall) + noise.gauss(0, 6)))) for _ in range(height) for x in range(width)]
    (place.folder / "noisy.raw").write_bytes(bytes(rows) * frames)
    place.play(f"filesrc location=noisy.raw blocksize={width * height} ! rawvideoparse format=gray8 width={width} height={height} "
                 "framerate=25/1 ! videoconvert ! video/x-raw,format=I420 ! avimux ! filesink location=noisy.avi")
    result = place.script("denoise.sh", "noisy.avi", "out.mkv")
    expect(result.status == 0, result.last())
    place.play("filesrc location=out.mkv ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=out.raw")
    picture = (place.folder / "out.raw").read_bytes()[:2 * width * height]
    def mean_and_deviation(left, columns):
        values = [picture[2 * width * y + left + x] for y in range(20, height - 20) for x in range(48, width - 48) if x % 48 in columns]
        mean = sum(values) / len(values)
        return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    noise_before, noise_after = (mean_and_deviation(left, range(16, 36))[1] for left in (0, width))
    contrast = mean_and_deviation(width, [1])[0] - mean_and_deviation(width, range(16, 36))[0]
    expect(noise_after < 0.6 * noise_before, f"noise {noise_before:.1f} becomes {noise_after:.1f}")
    expect(contrast > 0.75 * (post - wall), f"of {post - wall} levels {contrast:.1f} are left")


@test("pipelines/quickstart.sh makes its pictures")
def _(place):
    # The build stands in for one of its own, which takes minutes.
    place.stand_in("meson", f"mkdir -p \"$2\"\nln -sfn {place.build}/gst \"$2/gst\"\n")
    place.stand_in("ninja", "true\n")
    # A copy, because a script builds beside the file itself, whatever links lead to it.
    for entry in ("pipelines", "scripts"):
        shutil.copytree(pipelines.parent / entry, place.folder / "tree" / entry)
    result = place.run(place.folder / "tree/pipelines/quickstart.sh", place.materials / "film.mp4")
    expect(result.status == 0 and "backend: " in result.out, result.last())
    expect("backend: cuda" in result.out or "Frames are processed on the CPU" in result.out, "it does not say why it ran on the CPU")
    made = sorted(path.name for path in (place.folder / "tree/build-quickstart/pictures").iterdir())
    expect(made == [f"film-{kind}.png" for kind in ("before", "binarised", "blurred", "equalised")], f"{made}")


@test("pipelines/gpu-decode.sh says what it needs")
def _(place):
    if place.run("gst-inspect-1.0", "nvh264dec").status == 0:
        raise Skip("there is a decoder on a GPU here")
    result = place.script("gpu-decode.sh", place.materials / "film.mp4")
    expect(result.status == 1 and "no element nvh264dec here: it needs an NVIDIA card" in result.err, result.last())


@test("pipelines/clahe.sh shows the input on the left, and more contrast in light and shadow on the right")
def _(place):
    width, height, cell = 640, 480, 20
    dark, bright, step = 30, 215, 8
    rows = bytes((dark if x < width // 2 else bright) + step * ((x // cell + y // cell) % 2)
                 for y in range(height) for x in range(width))
    (place.folder / "rows.raw").write_bytes(rows)
    place.play(f"filesrc location=rows.raw blocksize={width * height} ! rawvideoparse format=gray8 width={width} height={height} "
                 "framerate=25/1 ! pngenc snapshot=true ! filesink location=checks.png")
    result = place.script("clahe.sh", "--clip-limit", "20", "--tiles=4", "checks.png", "out.png")
    expect(result.status == 0, result.last())
    expect(png_kind(place.folder / "out.png")[:2] == (2 * width, height), "the halves do not lie beside each other")
    place.play("filesrc location=out.png ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 ! filesink location=out.raw")
    picture = (place.folder / "out.raw").read_bytes()

    def contrast(half, x):
        """The difference between a square and its right neighbour, in their middles."""
        middle = 2 * width * (height // 2 + cell // 2) + half * width + x + cell // 2
        return abs(picture[middle] - picture[middle + cell])

    for x in (80, 480):
        before, after = contrast(0, x), contrast(1, x)
        expect(abs(before - step) <= 2, f"the left half has a step of {before} instead of {step}")
        expect(after >= 2 * step, f"a step of {step} becomes {after} at column {x}")


@test("scripts work through links, and with CDPATH")
def _(place):
    (place.folder / "clahe").symlink_to(pipelines / "clahe.sh")
    result = place.run("./clahe", place.materials / "left.png", "out.png")
    expect(result.status == 0 and (place.folder / "out.png").stat().st_size > 300, result.text)
    result = place.run("bash", "-c", f'cd {top} && . pipelines/env.sh && echo "$pipelines"', CDPATH=".")
    expect(result.out == f"{pipelines}\n", result.text)
