# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/blur-faces.py: which faces it hides, how strongly, and what it reports."""
import sys

from harness import Skip, examples, expect, pipelines, python, test

sys.path.insert(0, str(pipelines))
from faces.tracks import Tracks  # noqa: E402  pylint: disable=wrong-import-position

one, other = (100, 100, 40, 40), (300, 100, 80, 80)


def known(seen, persistence=0.5, lost_seconds=10, cuts=(), film=True):
    """Returns what is hidden in each frame, at 10 frames per second, if a detector finds these boxes: the columns of
    the boxes' centres, and + if the whole frame must be hidden. Also returns the tracks."""
    tracks = Tracks(persistence, lost_seconds)

    def describe(hidden):
        return " ".join(str(x + width // 2) for x, _, width, _ in hidden.boxes) + "+" * hidden.whole

    if film:
        frames = [tracks.add(number / 10, boxes, number in cuts) for number, boxes in enumerate(seen)]
        return [describe(tracks.hidden(frame)) for frame in frames], tracks
    answers = []
    for number, boxes in enumerate(seen):
        frame = tracks.add(number / 10, boxes, number in cuts)
        tracks.forget()
        answers.append(describe(tracks.hidden(frame)))
    return answers, tracks


def expect_known(answers, wanted, what):
    expect(answers == wanted, f"{what}: {answers}")


@test("pipelines/faces: a lost face is reported even if another face is found")
def _(_place):
    # The first face is detected for half a second, then not for 1.8 s, then again.
    seen = [[one, other]] * 5 + [[other]] * 18 + [[one, other]] * 5
    both, held, lost = "120 340", "120 340", "340+"
    answers, tracks = known(seen)
    expect_known(answers, [both] * 5 + [held] * 5 + [lost] * 8 + [held] * 5 + [both] * 5, "a film")
    expect(tracks.report() == ["A face, first seen 0:00.0 at 120,120, is lost: 0:01.0 to 0:01.7"], f"{tracks.report()}")
    answers, tracks = known(seen, film=False)
    expect_known(answers, [both] * 5 + [held] * 5 + [lost] * 13 + [both] * 5, "a camera")
    expect(tracks.report() == ["A face, first seen 0:00.0 at 120,120, is lost: 0:01.0 to 0:02.2"], f"{tracks.report()}")
    # A lost face is hidden only for lost_seconds, and not after a cut. With a camera, the report also lists faces that have left.
    answers, _ = known(seen[:10] + [[other]] * 30, lost_seconds=1)
    expect_known(answers, [both] * 10 + [lost] * 5 + ["340"] * 25, "lost_seconds")
    answers, tracks = known(seen[:10] + [[other]] * 30, lost_seconds=1, film=False)
    expect_known(answers, [both] * 10 + [lost] * 5 + ["340"] * 25, "lost_seconds with a camera")
    expect(tracks.report() == ["A face, first seen 0:00.0 at 120,120, is lost: 0:01.0 to 0:01.4"] and len(tracks.scenes[-1]) == 1, f"{tracks.report()}")
    answers, _ = known(seen, cuts=[6])
    expect_known(answers[:7], [both] * 6 + [lost], "a cut")


@test("pipelines/faces: neighbours are separate faces, and a stray detection is not a face")
def _(_place):
    # With their margins, these two faces overlap.
    near = (145, 105, 40, 40)
    answers, _ = known([[one, near]] * 5 + [[near]] * 6)
    expect_known(answers, ["120 165"] * 5 + ["120 165"] * 5 + ["165+"], "neighbours")
    # A face that appears next to another one does not take over its track.
    close = (125, 100, 40, 40)
    answers, _ = known([[one]] * 5 + [[one, close]] * 5 + [[close]] * 6)
    expect_known(answers, ["120 145"] * 15 + ["145+"], "close neighbours")
    # A moving face, whose size changes, stays one face.
    moving = [[(100 + 9 * number, 100, 30 + 20 * (number % 2), 40)] for number in range(20)]
    _, tracks = known(moving)
    expect(len(tracks.scenes[0]) == 1, f"{len(tracks.scenes[0])} faces that move")
    answers, tracks = known([[one]] * 10 + [[one, other]] + [[one]] * 10, persistence=0.2)
    expect_known(answers, ["120"] * 8 + ["120 340"] * 5 + ["120"] * 8, "a stray detection")
    expect(tracks.report() == [], f"{tracks.report()}")


@test("pipelines/faces: in files, a face is covered before its first detection and between detections")
def _(_place):
    seen = [[other]] * 12 + [[one, other]] * 6
    answers, _ = known(seen)
    expect_known(answers, ["340+"] * 7 + ["340 120"] * 11, "before")
    answers, _ = known(seen, film=False)
    expect_known(answers, ["340"] * 12 + ["340 120"] * 6, "a camera")
    far = (150, 100, 40, 40)
    _, tracks = known([[one]] * 5 + [[]] * 3 + [[far]] * 5)
    box, = tracks.hidden(type(tracks.frame)(6, 0.6, tracks.scenes[0])).boxes
    # The hidden box covers both positions, with a doubled margin.
    expect(box == (55, 80, 180, 80), f"{box}")
    answers, tracks = known([[]] * 3 + [[one]] * 4 + [[]] * 3, persistence=0.1)
    expect_known(answers, ["+", "+", "120", "120", "120", "120", "120", "120", "+", "+"], "a gap")
    expect(tracks.report()[0] == "4 of 10 frames have no face: 0:00.0 to 0:00.1, 0:00.8 to 0:00.9", f"{tracks.report()}")


@test("pipelines/blur-faces.py sets the regions and the strength of exactly the right frame")
def _(place):
    result = place.program(f"""
import importlib.util
spec = importlib.util.spec_from_file_location("blur_faces", {str(pipelines / "blur-faces.py")!r})
blur_faces = importlib.util.module_from_spec(spec)
spec.loader.exec_module(blur_faces)
import frames, numpy
from faces.tracks import Hidden

def description(elements):
    return ("appsrc name=source caps=video/x-raw,format=GRAY8,width=61,height=45,framerate=25/1 format=time ! videoconvert ! video/x-raw,format=I420,colorimetry=1:3:5:1 ! queue "
            f"! {{elements}} ! queue ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink sync=false")
noise = numpy.random.default_rng(1).integers(0, 255, (45, 64)).astype("u1")

def play(count, elements):
    return frames_of(count, frames.Player(description(f"{{elements}} backend=cpu frames-in-flight=4")))

def follow(hidden, count, *more, missing="pass"):
    elements, method = blur_faces.hiding(["backend=cpu", "frames-in-flight=4", f"regions-missing={{missing}}", *more])
    player = frames.Player(description(elements))
    blur_faces.follow(player, method, hidden, missing, lambda: 20)
    return frames_of(count, player)

def frames_of(count, player):
    with player:
        for number in range(count):
            noise[44, 60] = number
            buffer = frames.Gst.Buffer.new_wrapped(noise.tobytes())
            buffer.pts = number * 40000000
            player["source"].emit("push-buffer", buffer)
        player["source"].emit("end-of-stream")
        return [samples.copy() for _, samples in player.frames()]

# Boxes and widths that change from frame to frame, frames without any face, and frames with a lost face.
width = [8, 24, 70, 508, 509, 0, 16]
whole = [False, False, False, False, False, False, True]
box = [(4, 4, 20, 20), (30, 2, 24, 30), (2, 2, 50, 40), (0, 0, 61, 45), (0, 0, 61, 45), None, (9, 9, 9, 9)]
numbers = iter(range(1000))
def hidden(buffer, caps):
    # The picture encodes its frame number.
    number = next(numbers)
    gray = blur_faces.luminance(buffer, caps)
    assert gray.shape == (45, 61) and gray[44, 60] == number, (gray.shape, gray[44, 60], number)
    kind = number % 7
    return Hidden([box[kind]] if box[kind] else [], whole[kind], width[kind])
got = follow(hidden, 140, missing="all")
# The expected frames, with fixed properties. A frame blurred as a whole has the strength for the video's widest face.
blur, mosaic = f"cudagaussblur region-strength={{1 / 4 / 1.5}}", f"cudapixelate region-strength={{1 / 3 / 1.5}}"
fixed = [f"{{blur}} sigma=2 regions=4,4,20,20", f"{{blur}} sigma=6 regions=30,2,24,30", f"{{blur}} sigma=17.5 regions=2,2,50,40", f"{{blur}} sigma=127 regions=0,0,61,45",
         f"{{mosaic}} block-size=170 regions=0,0,61,45", "cudagaussblur sigma=5", "cudagaussblur sigma=5"]
wanted = [play(140, one) for one in fixed]
print(len(got), all((got[i] == wanted[i % 7][i]).all() for i in range(140)))
numbers = iter(range(1000))
got = follow(hidden, 7)
print((got[5] == play(7, "cudagaussblur sigma=0")[5]).all(), (got[6] == play(7, "cudagaussblur sigma=4 regions=9,9,9,9")[6]).all())

# The user's properties apply only to the element that has them.
for more, wanted in ((["method=solid"], "cudapixelate method=solid"), (["method=mosaic", "block-size=30"], f"{{mosaic}} block-size=30"),
                     (["sigma=30", "region-invert=true"], f"{{blur}} sigma=30 region-invert=true"), (["border=replicate"], f"{{blur}} sigma=2 border=replicate")):
    numbers = iter(range(1000))
    print((follow(hidden, 1, *more)[0] == play(1, wanted + " regions=4,4,20,20")[0]).all(), end=" ")
print()
print(*({{name: round(value, 3) if isinstance(value, float) else value for name, value in properties.items()}} | {{"element": element}} for element, properties in
        (blur_faces.strength(40, sigma=30), blur_faces.strength(40, "mosaic", block_size=2), blur_faces.strength(2049), blur_faces.strength(9, "solid"))))

def failing(buffer, caps):
    raise ValueError("no eyes")
follow(failing, 3)
""")
    expect(result.out == "140 True\nTrue True\nTrue True True True \n{'sigma': 30, 'region-strength': 0.167, 'element': 'blur'} "
           "{'method': 'mosaic', 'block-size': 14, 'region-strength': 0.222, 'element': 'pixelate'} "
           "{'method': 'solid', 'element': 'pixelate'} {'method': 'solid', 'element': 'pixelate'}\n", result.text)
    expect(result.status == 1 and "Looking for faces failed: no eyes" in result.err, result.last())


def need(path):
    if not path.exists():
        raise Skip(f"{path.name} of opencv-doc is not installed")
    return path


look = """
import cv2, sys
cascades = [cv2.CascadeClassifier("/usr/share/opencv4/%scascades/%scascade_frontalface_%s.xml" % (kind, kind, name))
            for kind, name in (("haar", "alt2"), ("haar", "default"), ("lbp", "improved"))]
before, after = (cv2.VideoCapture("filesrc location=%s ! decodebin ! videoconvert ! video/x-raw,format=BGR ! appsink sync=false" % name, cv2.CAP_GSTREAMER) for name in sys.argv[1:])
counts = 7 * [0]
while True:
    (more, one), (still, two) = before.read(), after.read()
    if not (more and still):
        break
    one, two = (cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) for frame in (one, two))
    counts[6] += 1
    for i, cascade in enumerate(cascades):
        counts[i] += len(cascade.detectMultiScale(one, 1.1, 4, minSize=(24, 24)))
        # Where nothing was blurred, both frames are nearly equal.
        counts[3 + i] += sum(cv2.absdiff(one[y:y + h, x:x + w], two[y:y + h, x:x + w]).mean() > 3
                             for x, y, w, h in cascade.detectMultiScale(two, 1.1, 4, minSize=(24, 24)))
print(*counts)
"""


@test("no detector finds the faces in a video that pipelines/blur-faces.py has blurred")
def _(place):
    film = need(examples / "Megamind.avi")
    # A short version with few frames per second: three scenes, with faces of 80 to 360 pixels.
    place.play(f"filesrc location={film} ! avidemux name=demux demux.video_0 ! queue ! decodebin ! videorate drop-only=true ! video/x-raw,framerate=2/1 ! videoconvert "
                 "! video/x-raw,format=I420 ! x264enc quantizer=10 pass=quant speed-preset=ultrafast ! matroskamux ! filesink location=short.mkv")
    place.succeed(python, pipelines / "blur-faces.py", "short.mkv", "out.mkv", timeout=3600)
    (place.folder / "look.py").write_text(look)
    result = place.run(python, "look.py", "short.mkv", "out.mkv", timeout=3600)
    *faces, count = map(int, result.out.split())
    expect(count > 15 and min(faces[:2]) >= 15 and faces[2] > 0 and not any(faces[3:]), f"faces in {count} frames: {faces[:3]} become {faces[3:]}")


tilting = """
import cv2, numpy, sys
head = cv2.resize(cv2.imread(sys.argv[1], 0)[62:162, 42:142], (160, 160))
tilted = cv2.warpAffine(head, cv2.getRotationMatrix2D((80, 80), 50, 1), (160, 160), borderMode=cv2.BORDER_REFLECT)
with open("film.raw", "wb") as film:
    for number in range(36):
        film.write(numpy.hstack([head, tilted if number < 6 or 15 <= number < 27 else head]).tobytes())
"""


@test("pipelines/blur-faces.py hides a tilting head beside another head, and reports the times")
def _(place):
    picture = need(examples / "basketball1.png")
    (place.folder / "tilting.py").write_text(tilting)
    place.succeed(python, "tilting.py", picture)
    place.play("filesrc location=film.raw blocksize=51200 ! rawvideoparse format=gray8 width=320 height=160 framerate=10/1 ! videoconvert "
                 "! video/x-raw,format=I420 ! x264enc quantizer=10 pass=quant speed-preset=ultrafast ! matroskamux ! filesink location=film.mkv")
    for missing, source in (("all", "film.mkv"), ("pass", "film.mkv"), ("all", "pipe")):
        # Like a camera, a pipe cannot be read twice. The shell keeps the pipe open for reading and writing, because filesrc opens
        # it twice.
        begin = "(exec 3<>pipe; cat film.mkv >&3; sleep 10) &" if source == "pipe" else ""
        result = place.run("bash", "-c", f"rm -f pipe; mkfifo pipe; {begin} {pipelines}/blur-faces.py {source} out.mkv --persistence=0.25 --missing={missing}")
        lost = "0:01.7 to 0:02.6" if source == "pipe" else "0:00.0 to 0:00.3, 0:01.7 to 0:02.4"
        expect(result.status == 0 and "A face, first seen 0:00.6 " in result.out and f"is lost: {lost}\n" in result.out, result.text)
        data = place.gray("out.mkv")
        expect(len(data) == 36 * 51200, f"{len(data)} bytes")
        # Frames are sharp if the mean difference of neighbouring pixels in the middle of the right head exceeds 3.
        rows = [[data[(number * 160 + y) * 320 + 200:][:80] for y in range(50, 110)] for number in range(36)]
        sharp = [number for number, head in enumerate(rows) if sum(abs(a - b) for row in head for a, b in zip(row, row[1:])) / 60 / 79 > 3]
        wanted = [*range(4), *range(17, 25)] if missing == "pass" else [*range(6)] if source == "pipe" else []
        expect(sharp == wanted, f"{source} with --missing={missing}: the right head is visible in frames {sharp}, not in {wanted}")


@test("Ctrl-C does not wait for a stream that has ended")
def _(place):
    result = place.program("""
import time
import frames
begin = time.monotonic()
with frames.Player("videotestsrc num-buffers=5 ! fakesink name=mux") as player:
    player.to_the_end()
    raise KeyboardInterrupt
print(time.monotonic() - begin < 250, player.interrupted)
""", timeout=1000)
    expect(result.out == "True True\n", result.text)


@test("pipelines/faces: MP4 accepts videos with repeated timestamps")
def _(place):
    result = place.program("""
import frames
from faces.film import writer
frames.Gst.init(None)
with frames.Player("appsrc name=source format=time caps=video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! " + writer("out.mp4", 2000000)) as player:
    for number in (0, 1, 2, 2, 3, 4, 4):
        buffer = frames.Gst.Buffer.new_wrapped(bytes(64 * 48 * 3 // 2))
        buffer.pts, buffer.duration = number * 40000000, 40000000
        player["source"].emit("push-buffer", buffer)
    player["source"].emit("end-of-stream")
    player.to_the_end()
""")
    expect(result.status == 0 and not result.err, result.text)
