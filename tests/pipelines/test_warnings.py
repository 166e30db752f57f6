# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that scripts and examples print the elements' warnings, and exit with 1 if cudasgmstereo reports a wrong result."""
import re

from harness import expect, pipelines, python, test

cameras = "--focal-length", "300", "--baseline", "60"


def make_pair(place):
    """Makes a stereo pair that is large enough to be inspected, as pictures (left.png, right.png) and as videos
    (left.mkv, right.mkv)."""
    place.succeed(python, "-c", "import cv2, numpy\n"
                  "noise = numpy.random.RandomState(1).randint(0, 256, (240, 340), 'u1')\n"
                  "cv2.imwrite('left.png', noise[:, :320])\ncv2.imwrite('right.png', noise[:, 20:])")
    for side in ("left", "right"):
        place.play(f"filesrc location={side}.png ! pngdec ! imagefreeze num-buffers=3 ! video/x-raw,framerate=25/1 ! videoconvert ! "
                     f"video/x-raw,format=GRAY8 ! avenc_ffv1 ! matroskamux ! filesink location={side}.mkv")


@test("scripts and examples warn about exchanged cameras, and exit with 1")
def _(place):
    make_pair(place)
    small = "num-disparities=64"

    def source(file):
        return f"filesrc location={file} ! decodebin ! videoconvert"

    for kind in ("png", "mkv"):
        for sides, wrong in (("left right", False), ("right left", True)):
            files = [f"{side}.{kind}" for side in sides.split()]
            commands = [(pipelines / "stereo-files.sh", small, *files, f"out.{kind}"),
                        (python, pipelines / "disparity.py", *files, "--property", small),
                        (python, pipelines / "point-cloud.py", *files, "out.ply", "--property", small, *cameras),
                        (place.build / "pipelines/distance", "300", "60", *map(source, files))]
            for command in commands:
                result = place.run(*command)
                warned = len(re.findall("left and right are exchanged", result.text))
                expect((result.status, warned) == (1, 1) if wrong else (result.status, warned) == (0, 0), f"{command}: {result.text}")
    # The picture is still made, and a warning about slowness alone is harmless.
    expect((place.folder / "out-colors.png").exists() and (place.folder / "out.ply").exists(), f"{place.files()}")
    result = place.script("stereo-files.sh", "num-disparities=1024", "left.png", "right.png", "slow.png")
    expect(result.status == 0 and result.err.count("takes time for disparities") == 1, result.text)


@test("cudasgmstereo does not ask for another depth-unit while pictures are not rectified")
def _(place):
    result = place.run(python, "-c", "import cv2, numpy\n"
                       "noise = numpy.random.RandomState(1).randint(0, 256, (246, 340), 'u1')\n"
                       "for name, y in (('left', 3), ('right', 3), ('lower', 0)):\n"
                       "    cv2.imwrite(name + '.png', cv2.GaussianBlur(noise, (5, 5), 0)[y:y + 240, 0 if name == 'left' else 20:][:, :320])")
    expect(result.status == 0, result.last())
    for right, words, others in (("right", "set depth-unit=", "not rectified"), ("lower", "not rectified", "depth-unit")):
        # Most points are 90 m away.
        result = place.run(place.build / "pipelines/distance", "3000", "600", *(
            f"filesrc location={name}.png ! pngdec ! imagefreeze num-buffers=50 ! video/x-raw,framerate=5/1 ! videoconvert" for name in ("left", right)))
        expect(result.status == 1 and words in result.err and others not in result.err, f"{right}: {result.err}")


@test("cudasgmstereo reports the missing queue of a second output")
def _(place):
    source = "videotestsrc num-buffers=9 ! video/x-raw,format=GRAY8,width=96,height=48 ! queue ! stereo.sink_"
    missing = 'For 5 s, view has not accepted the first buffer of pad src, which blocks the other outputs: put a "queue" between src and view,'
    for queue, hangs in (("", True), ("queue !", False)):
        running = place.start(python, "-c", "import frames, sys\nplayer = frames.Player(sys.argv[1])\nwith player:\n    player.to_the_end()",
                              f"cudasgmstereo name=stereo num-disparities=32 ! {queue} fakesink name=view "
                              f"stereo.confidence ! fakesink {source}left {source}right", PYTHONPATH=str(pipelines))
        running.wait_until(lambda: missing in running.text())
        if hangs:
            expect(running.runs(), f"it ends: {running.text()}")
            running.kill()
        else:
            result = running.finish()
            expect(result.status == 0 and '"queue"' not in result.text, result.text)


@test("cudasgmstereo reports a missing queue if its sinks wait for each other after a restart")
def _(place):
    source = "videotestsrc num-buffers=9 ! video/x-raw,format=GRAY8,width=96,height=48 ! queue ! stereo.sink_"
    result = place.program(f"""
import frames
from frames import Gst
player = frames.Player("cudasgmstereo name=stereo num-disparities=32 ! fakesink name=view async=false "
                       "stereo.confidence ! fakesink name=other async=false {source}left {source}right")
with player:
    player.bus.timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS)
for sink in ("view", "other"):
    player[sink].set_property("async", True)
with player:
    messages = iter(lambda: player.bus.timed_pop_filtered(30 * Gst.SECOND, Gst.MessageType.WARNING), None)
    print(any('put a "queue"' in message.parse_warning()[0].message for message in messages))
""")
    expect(result.out == "True\n", result.text)


@test("scripts print warnings and the progress on a terminal")
def _(place):
    make_pair(place)
    place.stand_in("gst-launch-1.0", "[[ $* != *matroskamux* ]] || echo 'WARNING: from element /GstPipeline:p/GstCudaBlur:b: Mind the gap.'\n"
                   'exec "$(type -ap gst-launch-1.0 | sed -n 2p)" "$@"\n')
    text = place.on_terminal(pipelines / "denoise.sh", "--search=9", place.materials / "film.mp4", "denoised.mkv")
    expect("Mind the gap." in text and re.search(r"\r0:00:0\d", text), text[-300:])


@test("programs print the warnings of the elements")
def _(place):
    # With an empty CUDA_VISIBLE_DEVICES, no GPU is visible.
    for command in ((place.build / "pipelines/box-sum", "0", "0", "5", "5", "videotestsrc num-buffers=2 ! identity"),):
        result = place.run(*command, CUDA_VISIBLE_DEVICES="")
        expect(result.status == 0 and "warning: Frames are processed on the CPU" in result.err, f"{command}: {result.text}")
