# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/binarise.sh with pages for OCR, and pipelines/night.sh with videos taken in the dark."""
import random

from harness import expect, pipelines, test


def picture(place, name, width, height, level):
    """Writes a PNG or a JPEG whose levels are a function of x and y."""
    (place.folder / "picture.raw").write_bytes(bytes(level(x, y) for y in range(height) for x in range(width)))
    encoder = "pngenc" if name.endswith("png") else "jpegenc quality=100"
    place.play(f"filesrc location=picture.raw blocksize={width * height} ! rawvideoparse format=gray8 width={width} height={height} "
               f"framerate=25/1 ! {encoder} snapshot=true ! filesink location={name}")


def page(x, y):
    """Returns a level of unevenly lit paper with a stroke 3 pixels wide, a stain of 4×2 pixels and a faint shadow."""
    paper = 220 - x
    if 20 <= x < 23:
        return paper // 4
    if 50 <= x < 54 and 30 <= y < 32:
        return paper // 4
    return paper * 4 // 5 if 70 <= x < 72 else paper


def black(place, name):
    """Returns whether stroke, stain and shadow are black in a picture, and the number of black pixels."""
    levels = place.gray(name)
    return [levels[96 * 31 + x] == 0 for x in (21, 51, 70)], levels.count(0)


@test("pipelines/binarise.sh keeps strokes, and removes stains up to the given size")
def _(place):
    picture(place, "page.png", 96, 64, page)
    for options, expected in (([], [True, True, False]), (["--speckle-size=8"], [True, False, False]), (["--speckle-size=7"], [True, True, False]),
                              (["--speckle-size", "0", "--k=0"], [True, True, True]), (["--speckle-size=7", "--range=20"], [True, True, True]),
                              (["--method=bradley", "--speckle-size=7"], [True, True, True]),
                              (["--method=bradley", "--ratio=0.4"], [True, True, False])):
        result = place.script("binarise.sh", *options, "page.png", "out.png")
        expect(result.status == 0, f"{options}: {result.last()}")
        found = black(place, "out.png")
        expect(found[0] == expected, f"{options}: {found}")
    for option, words in (("--k=2", "--k needs a number from 0 to 1"), ("--range=dark", "--range needs a number from 0 to 255"),
                          ("--ratio=1.5", "--ratio needs a number from 0 to 1"),
                          ("--speckle-size=-1", "--speckle-size needs a whole number from 0 to 999999999")):
        result = place.script("binarise.sh", option, "page.png", "wrong.png")
        expect(result.status == 2 and words in result.err and "wrong.png" not in place.files(), f"{option}: {result.text}")


@test("pipelines/binarise.sh takes a folder of pages")
def _(place):
    (place.folder / "pages").mkdir()
    for name in ("one.png", "two.png", "two.jpg"):
        picture(place, f"pages/{name}", 96, 64, page)
    (place.folder / "pages/notes.txt").write_text("no picture\n" * 100)
    result = place.script("binarise.sh", "pages", "out")
    expect(result.status == 0 and "1 of 3: pages/one.png" in result.out and "3 of 3: pages/two.png" in result.out, result.text)
    expect(sorted(path.name for path in (place.folder / "out").iterdir()) == ["one.png", "two.jpg.png", "two.png.png"], f"{place.files()}")
    for name in ("one.png", "two.jpg.png", "two.png.png"):
        expect(black(place, f"out/{name}")[0] == [True, True, False], name)

    # After an unreadable page, the other pages are still converted.
    (place.folder / "pages/a.png").write_bytes((place.folder / "pages/one.png").read_bytes()[:60])
    result = place.script("binarise.sh", "pages/", "again")
    expect(result.status == 1 and "1 of 4 pictures failed" in result.err, result.text)
    expect(sorted(path.name for path in (place.folder / "again").iterdir()) == ["one.png", "two.jpg.png", "two.png.png"], f"{place.files()}")

    result = place.script("binarise.sh", "pages", "pages")
    expect(result.status == 1 and "this is the input folder" in result.err, result.text)
    (place.folder / "empty").mkdir()
    result = place.script("binarise.sh", "empty", "nothing")
    expect(result.status == 1 and "empty: there is no picture in this folder" in result.err and "nothing" not in place.files(), result.text)


def dark_film(place, width, height, frames):
    """Writes dark.avi, raw I420 frames of a noisy wall. Luma rises from 20 to 50 from left to right, and the right half is bluish."""
    noise = random.Random(3)
    planes = b""
    for _ in range(frames):
        planes += bytes(max(16, min(235, round(20 + 30 * x / width + noise.gauss(0, 3)))) for y in range(height) for x in range(width))
        planes += bytes(128 + (10 if x > width // 4 else 0) for y in range(height // 2) for x in range(width // 2))
        planes += bytes([128]) * (width * height // 4)
    (place.folder / "dark.raw").write_bytes(planes)
    place.play(f"filesrc location=dark.raw blocksize={width * height * 3 // 2} ! rawvideoparse format=i420 width={width} height={height} "
               "framerate=25/1 ! avimux ! filesink location=dark.avi")


def mean(values):
    return sum(values) / len(values)


@test("pipelines/night.sh removes the noise of a dark video, brightens it and keeps its colours")
def _(place):
    width, height, frames = 96, 64, 8
    dark_film(place, width, height, frames)

    def seen(script, *options):
        """Returns, for the middle frame, the rise of luma from left to right, the noise, and U in the right half."""
        result = place.script(script, *options, "dark.avi", "out.mkv")
        expect(result.status == 0 and "Writing out.mkv" in result.out, result.last())
        place.play("filesrc location=out.mkv ! decodebin ! videoconvert ! video/x-raw,format=I420 ! filesink location=out.raw")
        film, size = (place.folder / "out.raw").read_bytes(), width * height * 3 // 2
        expect(len(film) == frames * size, f"{script}: {len(film)} bytes")
        frame = film[frames // 2 * size:]
        columns = [[frame[width * y + x] for y in range(8, height - 8)] for x in range(8, width - 8)]
        noise = mean([mean([(level - mean(column)) ** 2 for level in column]) for column in columns]) ** 0.5
        return mean(columns[-1]) - mean(columns[0]), noise, frame[width * height + width // 2 * (height // 4) + width * 3 // 8]

    _, noise, pale = seen("encode.sh")
    expect(pale < 142, f"U is {pale} after encode.sh")
    for options in ([], ["--frames=1", "--search", "15"]):
        rise, left, blue = seen("night.sh", *options)
        expect(rise > 120, f"{options}: a rise of 25 levels becomes {rise:.0f}")
        expect(left < 0.6 * noise, f"{options}: the noise is {left:.1f} instead of {noise:.1f}")
        expect(blue > 150, f"{options}: U is {blue}, and was 138")


@test("pipelines/night.sh keeps the sound and checks its arguments")
def _(place):
    film = place.materials / "film.mp4"
    result = place.script("night.sh", "--search=3", film, "out.mkv")
    expect(result.status == 0 and b"A_AAC" in (place.folder / "out.mkv").read_bytes(), result.last())
    for arguments, words in (([film], "an argument is missing"), ([film, "wrong.mp4"], "use .mkv"), ([film, film], "use .mkv"),
                             (["--frames=2", film, "wrong.mkv"], "--frames needs an odd number from 1 to 9"),
                             (["--search=2", film, "wrong.mkv"], "--search needs an odd number from 1 to 101"),
                             ([place.materials / "picture.png", "wrong.mkv"], "is not a video")):
        result = place.script("night.sh", *arguments)
        expect(result.status in (1, 2) and words in result.err and "wrong.mkv" not in place.files(), f"{arguments}: {result.text}")
    expect((pipelines / "night.sh").stat().st_mode & 0o111, "it cannot be run")
