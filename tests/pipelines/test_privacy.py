# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/privacy.sh and pipelines/blur-faces.py: what they hide, in films as telephones and cameras write them."""
import struct

from harness import Skip, examples, expect, pipelines, test
from test_scripts import decoded_sound

python = "/usr/bin/python3"
width, height, count = 192, 144, 50


def on_its_side(source, name):
    """Copies a film so that players turn it clockwise by 90 degrees, as a telephone writes it that is held upright."""
    data = bytearray(source.read_bytes())
    # The matrix of the first track's header.
    at = data.index(b"tkhd") + 44
    data[at:at + 36] = struct.pack(">9i", 0, 1 << 16, 0, -1 << 16, 0, 0, height << 16, 0, 1 << 30)
    name.write_bytes(data)


def noise(place, name):
    """A film in which every blur shows."""
    place.play(f"videotestsrc pattern=snow num-buffers=1 ! video/x-raw,format=I420,width={width},height={height} ! imagefreeze num-buffers={count} "
                 f"! video/x-raw,framerate=25/1 ! x264enc quantizer=10 pass=quant speed-preset=ultrafast ! h264parse ! mp4mux ! filesink location={name}")
    return name


def expect_same_sound(before, after):
    """An MP4 file may say that the last of its samples do not count."""
    expect(before and after.startswith(before) and len(after) - len(before) < 100, f"{len(before)} bytes of sound become {len(after)}, or others")


def contrast(place, name, size):
    """Returns a function of a frame and a rectangle in a film: the mean difference of neighbours there."""
    w, h = size
    place.play(f"filesrc location={name} ! decodebin ! videoconvert ! video/x-raw,format=GRAY8,width={w},height={h} ! filesink location=gray.raw")
    data = (place.folder / "gray.raw").read_bytes()

    def of(frame, x, y, columns, rows):
        rows_of_frame = [data[(frame * h + y + i) * w + x:][:columns] for i in range(rows)]
        return sum(abs(a - b) for row in rows_of_frame for a, b in zip(row, row[1:])) / (rows * (columns - 1))

    expect(len(data) == count * w * h, f"{name} has {len(data) / w / h:.1f} frames of {w}x{h} instead of {count}")
    return of


@test("pipelines/privacy.sh blurs frames without a region as a whole, unless nobody is in them")
def _(place):
    film = noise(place, "noise.mp4")
    (place.folder / "regions.txt").write_text("0 1 96 0 96 144\n")
    for options, later_left, later_right in (([], True, True), (["--missing=pass"], False, False),
                                             (["--missing=pass", "--persistence=0.5"], False, True)):
        result = place.script("privacy.sh", "--shape=rectangle", "--feather=0", *options, "regions.txt", film, "out.mkv")
        expect(result.status == 0, result.last())
        of = contrast(place, "out.mkv", (width, height))
        # Frame 33 is 0.32 s after the end of the region.
        blurred = [of(frame, x, 8, 72, 128) < 15 for frame in (10, 33) for x in (8, 108)]
        expect(blurred == [False, True, later_left, later_right], f"{options}: {blurred}")


@test("pipelines/privacy.sh turns films as people see them, and keeps their sound")
def _(place):
    film = "turned.mp4"
    on_its_side(place.materials / "film.mp4", place.folder / film)
    # A strip at the right edge of the upright picture.
    (place.folder / "regions.txt").write_text(f"0 9 104 0 40 {width}\n")
    (place.folder / "with spaces").mkdir()
    (place.folder / "with spaces" / film).write_bytes((place.folder / film).read_bytes())
    uri = (place.folder / "with spaces" / film).as_uri()
    before = decoded_sound(place, film)
    for name, out in ((film, "out.mkv"), (uri, "out.mkv"), (film, "out.webm")):
        result = place.script("privacy.sh", "--missing=pass", "--shape=rectangle", "--feather=0", "regions.txt", name, out)
        expect(result.status == 0, result.last())
        seen = place.launch(f"-v -t filesrc location={out} ! decodebin caps=video/x-raw expose-all-streams=false ! fakesink").out
        expect(f"width=(int){height}, height=(int){width}" in seen and "rotate" not in seen, f"{out} is not turned, or would be turned twice")
        after = decoded_sound(place, out)
        if out.endswith(".mkv"):
            expect_same_sound(before, after)
        else:
            expect(abs(len(after) / 48000 - len(before) / 44100) < 4 * 0.1, f"{len(after)} bytes of sound")
    result = place.script("privacy.sh", "regions.txt", (place.folder / "none.mp4").as_uri(), "none.mkv")
    expect(result.status == 1 and "none.mp4" in result.err and not (place.folder / "none.mkv").exists(), result.last())


@test("pipelines/privacy.sh takes regions in the upright picture")
def _(place):
    on_its_side(place.folder / noise(place, "noise.mp4"), place.folder / "film.mp4")
    (place.folder / "regions.txt").write_text(f"0 9 0 0 {height} 60\n")
    result = place.script("privacy.sh", "--shape=rectangle", "--feather=0", "regions.txt", "film.mp4", "out.mkv")
    expect(result.status == 0, result.last())
    of = contrast(place, "out.mkv", (height, width))
    above, below = of(20, 8, 8, 128, 44), of(20, 8, 80, 128, 100)
    expect(above < 15 < below, f"the contrast is {above:.1f} in the region, {below:.1f} below it")


@test("pipelines/blur-faces.py blurs a face where the detector sees it, and nothing else")
def _(place):
    picture = examples / "basketball1.png"
    if not picture.exists():
        raise Skip("opencv-doc is not installed")
    place.play(f"filesrc location={picture} ! pngdec ! videoconvert ! videocrop right=320 bottom=240 ! imagefreeze num-buffers=25 "
                 "! video/x-raw,format=I420,framerate=25/1 ! x264enc quantizer=10 pass=quant speed-preset=ultrafast ! h264parse ! mp4mux name=m ! filesink location=face.mp4 "
                 "audiotestsrc num-buffers=43 ! audio/x-raw,rate=44100,channels=2 ! audioconvert ! avenc_aac ! aacparse ! m.")
    result = place.run(python, pipelines / "blur-faces.py", "face.mp4", "out.mkv")
    expect(result.status == 0 and "Writing out.mkv" in result.out, result.last())
    expect_same_sound(decoded_sound(place, "face.mp4"), decoded_sound(place, "out.mkv"))
    contrasts = []
    for name in ("face.mp4", "out.mkv"):
        place.play(f"filesrc location={name} ! decodebin ! videoconvert ! video/x-raw,format=GRAY8,width=320,height=240 ! filesink location=gray.raw")
        data = (place.folder / "gray.raw").read_bytes()
        expect(len(data) == 25 * 320 * 240, f"{name}: {len(data)} bytes")
        for x, y, size in ((76, 95, 32), (200, 100, 60)):
            rows = [data[(24 * 240 + y + i) * 320 + x:][:size] for i in range(size)]
            contrasts.append(sum(abs(a - b) for row in rows for a, b in zip(row, row[1:])) / size / (size - 1))
    face, wall, face_after, wall_after = contrasts
    expect(face_after < 0.5 * face and wall_after > 0.5 * wall, f"contrasts {face:.1f} and {wall:.1f} become {face_after:.1f} and {wall_after:.1f}")


@test("pipelines/blur-faces.py sets the regions of the very frame, and keeps a face that is lost")
def _(place):
    (place.folder / "exact.py").write_text(f"""
import importlib.util, sys
sys.path.insert(0, {str(pipelines)!r})
spec = importlib.util.spec_from_file_location("blur_faces", {str(pipelines / "blur-faces.py")!r})
blur_faces = importlib.util.module_from_spec(spec)
spec.loader.exec_module(blur_faces)
import frames, numpy

class Alternating:
    numbers = 0
    def of_frame(self, gray, time):
        # The picture tells the number of its frame.
        assert gray.shape == (45, 61) and gray[44, 60] == self.numbers, (gray.shape, gray[44, 60], self.numbers)
        self.numbers += 1
        return [(32 * (self.numbers % 2), 0, 24, 40)]

class Failing:
    def of_frame(self, gray, time):
        raise ValueError("no eyes")

description = ("appsrc name=source caps=video/x-raw,format=GRAY8,width=61,height=45,framerate=25/1 format=time ! videoconvert ! video/x-raw,format=I420,colorimetry=1:3:5:1 ! queue "
               "! cudagaussblur backend=cpu name=blur sigma=9 frames-in-flight=4 ! queue ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink sync=false")
noise = numpy.random.default_rng(1).integers(0, 255, (45, 64)).astype("u1")

def play(faces, count):
    player = frames.Player(description)
    blur_faces.follow(player["blur"], faces)
    with player:
        for number in range(count):
            noise[44, 60] = number
            buffer = frames.Gst.Buffer.new_wrapped(noise.tobytes())
            buffer.pts = number * 40000000
            player["source"].emit("push-buffer", buffer)
        player["source"].emit("end-of-stream")
        return [samples.astype(int) for _, samples in player.frames()]

right = [abs(numpy.diff(one[4:36, 36:52])).mean() < 20 for one in play(Alternating(), 200)]
print(len(right), right == [number % 2 == 0 for number in range(200)])

class Detector:
    answers = [[(40, 40, 20, 20), (100, 40, 20, 20)], [(104, 42, 20, 20)], [], [(40, 44, 20, 20)]]
    def detectMultiScale(self, *_, **__):
        return self.answers.pop(0)
faces = blur_faces.Faces({str("/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml")!r}, 24, 50)
faces.detector = Detector()
print([faces.of_frame(None, time) for time in (0, 40, 80, 200)])
play(Failing(), 3)
""")
    result = place.run(python, "exact.py")
    one, other, moved = "(35, 35, 30, 30)", "(95, 35, 30, 30)", "(99, 37, 30, 30)"
    expect(result.out == f"200 True\n[[{one}, {other}], [{one}, {moved}], [{moved}], [(35, 39, 30, 30)]]\n", result.text)
    expect(result.status == 1 and "No faces can be looked for: no eyes" in result.err, result.last())
