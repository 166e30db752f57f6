# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what pipelines/privacy.sh and pipelines/blur-faces.py hide in videos of phones and cameras."""
import re

from harness import Skip, examples, expect, pipelines, python, test, turned
from test_script_results import decoded_sound

width, height, count = 192, 144, 50


def noise(place, name):
    """Writes a video of noise, in which every blur is visible."""
    place.play(f"videotestsrc pattern=snow num-buffers=1 ! video/x-raw,format=I420,width={width},height={height} ! imagefreeze num-buffers={count} "
                 f"! video/x-raw,framerate=25/1 ! x264enc quantizer=10 pass=quant speed-preset=ultrafast ! h264parse ! mp4mux ! filesink location={name}")
    return name


def expect_same_sound(before, after):
    """Expects the same decoded sound. The result may be some bytes longer, because MP4 can mark the last samples as padding."""
    expect(before and after.startswith(before) and len(after) - len(before) < 100, f"{len(before)} bytes of sound become {len(after)}, or others")


def contrast(place, name, size):
    """Returns a function that computes the mean difference of neighbouring pixels in a rectangle of a frame."""
    w, h = size
    data = place.gray(name)

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
        place.succeed(pipelines / "privacy.sh", "--shape=rectangle", "--feather=0", *options, "regions.txt", film, "out.mkv")
        of = contrast(place, "out.mkv", (width, height))
        # Frame 33 is 0.32 s after the end of the region.
        blurred = [of(frame, x, 8, 72, 128) < 15 for frame in (10, 33) for x in (8, 108)]
        expect(blurred == [False, True, later_left, later_right], f"{options}: {blurred}")


@test("pipelines/privacy.sh rotates videos by their tag, and keeps their sound")
def _(place):
    film = "turned.mp4"
    (place.folder / film).write_bytes(turned((place.materials / "film.mp4").read_bytes()))
    # The region is a strip at the right edge of the upright picture.
    (place.folder / "regions.txt").write_text(f"0 9 104 0 40 {width}\n")
    (place.folder / "with spaces").mkdir()
    (place.folder / "with spaces" / film).write_bytes((place.folder / film).read_bytes())
    uri = (place.folder / "with spaces" / film).as_uri()
    before = decoded_sound(place, film)
    for name, out in ((film, "out.mkv"), (uri, "out.mkv"), (film, "out.webm")):
        place.succeed(pipelines / "privacy.sh", "--missing=pass", "--shape=rectangle", "--feather=0", "regions.txt", name, out)
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
    (place.folder / "film.mp4").write_bytes(turned((place.folder / noise(place, "noise.mp4")).read_bytes()))
    (place.folder / "regions.txt").write_text(f"0 9 0 0 {height} 60\n")
    place.succeed(pipelines / "privacy.sh", "--shape=rectangle", "--feather=0", "regions.txt", "film.mp4", "out.mkv")
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
        data = place.gray(name)
        expect(len(data) == 25 * 320 * 240, f"{name}: {len(data)} bytes")
        for x, y, size in ((76, 95, 32), (200, 100, 60)):
            rows = [data[(24 * 240 + y + i) * 320 + x:][:size] for i in range(size)]
            contrasts.append(sum(abs(a - b) for row in rows for a, b in zip(row, row[1:])) / size / (size - 1))
    face, wall, face_after, wall_after = contrasts
    expect(face_after < 0.5 * face and wall_after > 0.5 * wall, f"contrasts {face:.1f} and {wall:.1f} become {face_after:.1f} and {wall_after:.1f}")


# Private texts, in the tags of a video and in the comments of its sound.
secrets = b"Grandma", b"kitchen", b"Berlin"


@test("pipelines/privacy.sh and pipelines/blur-faces.py remove the tags of a video unless --keep-tags is set")
def _(place):
    tags = "tags=title=Grandma,comment=kitchen,geo-location-name=Berlin"
    place.play(f"videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=191,height=143,framerate=25/1 ! vp8enc deadline=1 ! taginject {tags} ! matroskamux name=m "
                 f"! filesink location=film.mkv audiotestsrc num-buffers=17 ! audio/x-raw,rate=44100 ! audioconvert ! taginject {tags} ! vorbisenc ! m.")
    (place.folder / "regions.txt").write_text("0 9 8 8 40 40\n")
    data = (place.folder / "film.mkv").read_bytes()
    expect(all(secret in data for secret in secrets), "the film has no tags")
    for command, more, status in ((pipelines / "privacy.sh", ["regions.txt"], 0), (pipelines / "blur-faces.py", [], 1)):
        # The last run reads the first run's output: the track names that a muxer writes must not become titles.
        for source, out, keep in (("film.mkv", "out.mkv", []), ("film.mkv", "out.mp4", []), ("film.mkv", "kept.mkv", ["--keep-tags"]), ("out.mkv", "again.mkv", ["--keep-tags"])):
            result = place.run(command, *keep, *more, source, out)
            expect(result.status == status and f"Writing {out}" in result.out, f"{command} {out}: {result.text}")
            data = (place.folder / out).read_bytes()
            found = [secret.decode() for secret in secrets if secret in data]
            expect(found[:2] == (["Grandma", "kitchen"] if out == "kept.mkv" else []), f"{command} {out} has {found}")
            expect(data.count(b"Audio") <= 1, f"{command} {out}: {data.count(b'Audio')} names")
            demux = "qtdemux" if out == "out.mp4" else "matroskademux"
            place.play(f"filesrc location={out} ! {demux} name=d d.audio_0 ! queue ! filesink location=sound.raw d.video_0 ! queue ! fakesink")
            expect((place.folder / "sound.raw").stat().st_size > 1000, f"{command} {out}: no sound")
            expect(out != "out.mp4" or data[4:8] == b"ftyp", f"{command}: no MP4")
    expect("No face was found." in result.err and "10 of 10 frames have no face: 0:00.0 to 0:00.4" in result.out, result.text)


@test("pipelines/privacy.sh and pipelines/blur-faces.py print the progress on a terminal, and the frames without a region")
def _(place):
    film = place.materials / "film.mp4"
    (place.folder / "regions.txt").write_text("0 1 8 8 40 40\n1.5 9 8 8 40 40\n")
    text = place.on_terminal(pipelines / "privacy.sh", "regions.txt", film, "out.mkv")
    expect(re.search(r"\r2\.0 s of 2\.\d s", text) and "13 of 50 frames have no region: 0:01.0 to 0:01.5" in text, text)
    (place.folder / "regions.txt").write_text("9 10 8 8 40 40\n")
    result = place.script("privacy.sh", "regions.txt", film, "out.mkv")
    expect(result.status == 1 and "no frame has a region" in result.err, result.text)
    (place.folder / "progress.py").write_text(f"""
import sys
sys.path.insert(0, {str(pipelines)!r})
import frames
with frames.Player("videotestsrc num-buffers=50 ! video/x-raw,framerate=25/1 ! fakesink") as player:
    player.to_the_end("Blurring")
""")
    text = place.on_terminal(python, "progress.py")
    expect(re.search(r"\rBlurring: 2\.0 s", text) and place.run(python, "progress.py").out == "Blurring\n", text)


@test("pipelines/privacy.sh blurs as strongly as the widest region needs")
def _(place):
    for widest, element in ((48, "cudagaussblur sigma=12.00"), (508, "cudagaussblur sigma=127.00"), (509, "cudapixelate block-size=170"), (769, "cudapixelate method=solid")):
        (place.folder / "regions.txt").write_text(f"# 0 0 0 0 9999 0\n0 9 8 8 {widest} 40 face\n0 1 9 9 7 7\n")
        result = place.run("bash", "-c", f". {pipelines}/env.sh; hiding regions.txt; printf %s \"${{hide[*]}}\"")
        expect(result.out == element, f"{widest}: {result.text}")
    film = noise(place, "noise.mp4")
    (place.folder / "regions.txt").write_text("0 9 8 8 16 16\n0 9 8 40 160 96\n")
    contrasts = []
    for sigma in ([], ["--sigma=0.5"]):
        place.succeed(pipelines / "privacy.sh", "--shape=rectangle", "--feather=0", *sigma, "regions.txt", film, "out.mkv")
        contrasts.append(contrast(place, "out.mkv", (width, height))(20, 20, 52, 136, 72))
    expect(contrasts[0] < 3 and contrasts[1] > 15, f"{contrasts}")
