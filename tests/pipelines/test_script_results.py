# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the pictures and videos that the scripts in pipelines/ write."""
import os
import random
import re

from harness import Skip, expect, pipelines, test


def film_of(place, name):
    """Returns the format of a video's samples, and the bytes of its sound as stored in the file."""
    demux = "qtdemux" if name.suffix == ".mp4" else "matroskademux"
    # gst-launch-1.0 -v can lose a line if two threads print at the same moment, so decodebin omits the sound.
    log = place.launch(f"-v filesrc location={name} ! decodebin expose-all-streams=false caps='video/x-raw(ANY)' ! fakesink")
    place.play(f"filesrc location={name} ! {demux} name=d d.audio_0 ! queue ! filesink location=sound.raw d.video_0 ! queue ! fakesink")
    return (re.search(r"fakesink.*format=\(string\)(\w+)", log.text).group(1), (place.folder / "sound.raw").read_bytes())


def decoded_sound(place, name):
    # Decodes only the sound. If the frames were also decoded, but not used, GStreamer could lose the end of such a short video.
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
    # Makes a video without sound, and a video whose sound must be decoded.
    place.play("videotestsrc num-buffers=20 ! video/x-raw,width=64,height=64 ! jpegenc ! avimux ! filesink location=silent.avi")
    place.play("videotestsrc num-buffers=50 ! video/x-raw,width=64,height=64 ! x264enc ! h264parse ! mpegtsmux name=m "
                 "! filesink location=film.ts audiotestsrc num-buffers=70 ! audioconvert ! avenc_aac ! aacparse ! m.")
    for name, sound in (("silent.avi", False), ("film.ts", True)):
        result = place.script("encode.sh", name, "out.mkv")
        expect(result.status == 0, f"{name}: {result.last()}")
        expect((b"A_PCM" in (place.folder / "out.mkv").read_bytes()) == sound, f"{name}: {'no sound' if sound else 'sound'}")


# The encoders and muxer of each video, and the codec id of its sound in Matroska. matroskamux refuses the packets of some demuxers
# unless a parser has processed them.
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
        # Also runs on one processor, where GStreamer's threads interleave differently.
        for command in ([], ["taskset", "--cpu-list", min(os.sched_getaffinity(0))]):
            place.succeed(*command, pipelines / "encode.sh", name, "out.mkv")
            expect(codec in (place.folder / "out.mkv").read_bytes(), f"it has no sound of the kind {codec.decode()}")
            after = decoded_sound(place, "out.mkv")
            expect(before and after == before, f"{len(before)} bytes of decoded sound become {len(after)}, or others")


def png_kind(path):
    """Returns width, height, bits per sample and colour type of a PNG."""
    head = path.read_bytes()[16:26]
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big"), head[8], head[9]


@test("pipelines/stereo-files.sh also writes a coloured map beside the 16-bit map")
def _(place):
    place.succeed(pipelines / "stereo-files.sh", "num-disparities=32", place.materials / "left.png", place.materials / "right.png", "map.png")
    kinds = png_kind(place.folder / "map.png"), png_kind(place.folder / "map-colors.png")
    expect(kinds == ((96, 48, 16, 0), (96, 48, 8, 2)), f"{kinds}")
    # binarise.sh accepts pictures of 16 bits, too.
    result = place.script("binarise.sh", "map.png", "binarised.png")
    expect(result.status == 0 and (place.folder / "binarised.png").stat().st_size > 0, result.last())


@test("pipelines/privacy.sh blurs the regions of a file, at their times, and nothing else")
def _(place):
    film = place.materials / "film.mp4"
    # The video has 50 frames in 2 s. The second region begins with frame 25, and the left edge clips it.
    (place.folder / "regions.txt").write_text("# heads\n0 1 10 8 120 128 head\n\n1 9 -20 60 168 40\n")
    result = place.script("privacy.sh", "--feather=0", "--shape=rectangle", "regions.txt", film, "out.mkv")
    expect(result.status == 0 and "Writing out.mkv" in result.out, result.last())
    # A malformed line is an error, because it may be meant as a region.
    for line in ("0 1 16 24", "0 1 16 24 40 32px", "0 1 16 24 40 32 head 0 1 60 24 40 32", "0 1 16 24 40 1e30", "1 0 16 24 40 32"):
        (place.folder / "wrong.txt").write_text(f"0 1 16 24 40 32\n{line}\n")
        result = place.script("privacy.sh", "wrong.txt", film, "wrong.mkv")
        expect(result.status == 1 and f'wrong.txt, line 2: "{line}" is not BEGIN END X Y WIDTH HEIGHT' in result.err, f"{line}: {result.last()}")
    (place.folder / "wrong.txt").write_text("# nobody\n")
    result = place.script("privacy.sh", "wrong.txt", film, "wrong.mkv")
    expect(result.status == 1 and "wrong.txt: there is no region in this file" in result.err, result.last())

    # Plays the same pipeline without an encoder, because an encoder would change every pixel.
    decoded = f"filesrc location={film} ! decodebin ! videoconvert ! video/x-raw,format=GRAY8"
    place.play(f"{decoded} ! filesink location=in.raw")
    place.succeed(place.build / "pipelines" / "mark-regions", "regions.txt",
                  *f"{decoded} ! identity name=mark ! cudagaussblur backend=cpu sigma=9 use-roi-meta=true ! filesink location=out.raw".split())
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


@test("pipelines/denoise.sh keeps thin details")
def _(place):
    # Draws pale posts, 3 pixels wide, in front of a flat wall, with noise of a standard deviation of 6.
    noise = random.Random(2)
    width, height, frames = 384, 288, 5
    wall, post = 120, 145
    rows = [max(0, min(255, round((post if x % 48 < 3 else wall) + noise.gauss(0, 6)))) for _ in range(height) for x in range(width)]
    (place.folder / "noisy.raw").write_bytes(bytes(rows) * frames)
    place.play(f"filesrc location=noisy.raw blocksize={width * height} ! rawvideoparse format=gray8 width={width} height={height} "
                 "framerate=25/1 ! videoconvert ! video/x-raw,format=I420 ! avimux ! filesink location=noisy.avi")
    place.succeed(pipelines / "denoise.sh", "noisy.avi", "out.mkv")
    picture = place.gray("out.mkv")[:2 * width * height]
    def mean_and_deviation(left, columns):
        values = [picture[2 * width * y + left + x] for y in range(20, height - 20) for x in range(48, width - 48) if x % 48 in columns]
        mean = sum(values) / len(values)
        return mean, (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    noise_before, noise_after = (mean_and_deviation(left, range(16, 36))[1] for left in (0, width))
    contrast = mean_and_deviation(width, [1])[0] - mean_and_deviation(width, range(16, 36))[0]
    expect(noise_after < 0.6 * noise_before, f"noise {noise_before:.1f} becomes {noise_after:.1f}")
    expect(contrast > 0.75 * (post - wall), f"of {post - wall} levels {contrast:.1f} are left")


@test("pipelines/clahe.sh shows the input on the left, and more contrast in light and shadow on the right")
def _(place):
    width, height, cell = 640, 480, 20
    dark, bright, step = 30, 215, 8
    rows = bytes((dark if x < width // 2 else bright) + step * ((x // cell + y // cell) % 2)
                 for y in range(height) for x in range(width))
    (place.folder / "rows.raw").write_bytes(rows)
    place.play(f"filesrc location=rows.raw blocksize={width * height} ! rawvideoparse format=gray8 width={width} height={height} "
                 "framerate=25/1 ! pngenc snapshot=true ! filesink location=checks.png")
    place.succeed(pipelines / "clahe.sh", "--clip-limit", "20", "--tiles=4", "checks.png", "out.png")
    expect(png_kind(place.folder / "out.png")[:2] == (2 * width, height), "the halves do not lie beside each other")
    picture = place.gray("out.png")

    def contrast(half, x):
        """Returns the difference between a square and its right neighbour, at their centres."""
        middle = 2 * width * (height // 2 + cell // 2) + half * width + x + cell // 2
        return abs(picture[middle] - picture[middle + cell])

    for x in (80, 480):
        before, after = contrast(0, x), contrast(1, x)
        expect(abs(before - step) <= 2, f"the left half has a step of {before} instead of {step}")
        expect(after >= 2 * step, f"a step of {step} becomes {after} at column {x}")
