# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the arguments of the Python examples and example programs in pipelines/, and compares results of the Python
examples with plain arithmetic. (tests/guards/ checks the results of blur-sweep, box-sum and distance.)"""
import re
import statistics

from harness import expect, pipelines, python, test

programs = ("application", "blur-sweep", "box-sum", "distance", "mark-regions")
examples = sorted(path.name for path in pipelines.glob("*.py") if path.name not in ("argtypes.py", "frames.py", "cudatensors.py"))


@test("every example supports --help, and refuses unknown arguments")
def _(place):
    expect(len(examples) >= 4, f"only {len(examples)} examples were found")
    for command in [(place.build / "pipelines" / name,) for name in programs] + [(python, pipelines / name) for name in examples]:
        result = place.run(*command, "--help")
        expect(result.status == 0 and result.out.startswith("usage: ") and not result.err, f"{command[-1]}: {result.last()}")
        result = place.run(*command, *["--nonsense"] * 2)
        expect(result.status == 2 and "usage: " in result.err, f"{command[-1]}: {result.last()}")
    frames = "videotestsrc", "num-buffers=1", "!", "video/x-raw,format=GRAY8,width=320,height=240"
    unscanned = {"GST_PLUGIN_PATH": "", "GST_REGISTRY": str(place.folder / "registry")}
    for name, arguments, status, words, more in (
            ("application", ["abc"], 2, 'application: FRAMES="abc" is not a whole number from 1 to 2147483647\nusage: ', {}),
            ("application", ["1", "x"], 2, 'application: "x" is one argument too many\nusage: ', {}),
            ("application", ["1"], 1, "(if cudahistequalize is missing, set GST_PLUGIN_PATH", unscanned),
            ("blur-sweep", ["--sigma"], 2, "blur-sweep: --sigma needs a value\nusage: ", {}),
            ("blur-sweep", ["--sigma", "2"], 2, "blur-sweep: the pipeline is missing\nusage: ", {}),
            ("box-sum", ["1"], 2, "box-sum: at least 5 arguments needed, 1 given\nusage: ", {}),
            ("box-sum", ["-1", "0", "5", "5", "videotestsrc"], 2, '"-1" is not a number from 0 to', {}),
            ("box-sum", ["5", "0", "5", "9", *frames], 2, "the box X0=5 Y0=0 X1=5 Y1=9 is empty: X1 must be above X0", {}),
            ("box-sum", ["0", "0", "700", "10", *frames], 1, "X1=700 Y1=10 is not inside the frames of 320x240 pixels: set X1 to at most 320 and Y1 to at most 240\n", {}),
            ("distance", ["1"], 2, "distance: 3 or 4 arguments needed, 1 given\nusage: ", {}),
            ("mark-regions", [place.materials, *frames], 1, "materials: this is a folder; name a file\n", {})):
        result = place.run(place.build / "pipelines" / name, *arguments, **more)
        expect(result.status == status and words in result.err, f"{name} {arguments}: {result.text}")


@test("the help of every example in Python explains each argument")
def _(place):
    for script in (*(pipelines / name for name in examples), pipelines.parent / "scripts/figures.py"):
        sections = re.findall(r"^(?:positional arguments|options):\n((?:  .*\n)+)", place.run(python, script, "--help").out, re.M)
        lines = "".join(sections).splitlines()
        # argparse writes the help beside a short argument, and below a long one.
        lacking = [line for line, after in zip(lines, [*lines[1:], ""]) if re.match(r"  \S+(?: \S+)*$", line) and not after.startswith(" " * 10)]
        expect(lines and not lacking, f"{script.name}: {lacking}")
    for name, words in (("disparity.py", "(default: num-disparities=256;"), ("point-cloud.py", "(default: num-disparities=256;"), ("archive.py", "(default: auto)"),
                        ("blur-faces.py", "(default: region-shape=ellipse and region-feather=8)"), ("calibrate.py", "required: length of a square")):
        expect(words in place.run(python, pipelines / name, "--help", COLUMNS="1000").out, f"{name} --help lacks {words}")


@test("a program in Python that loads the C++ library before GStreamer gets errors as messages")
def _(place):
    # Loads the C++ library first, as an import of cv2 or torch does.
    result = place.run(python, "-c", """
import ctypes
ctypes.CDLL("libstdc++.so.6")
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch("appsrc name=source caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1 "
                            "! cudagaussblur backend=cpu ! fakesink")
pipeline.set_state(Gst.State.PLAYING)
pipeline.get_by_name("source").emit("push-buffer", Gst.Buffer.new_wrapped(bytes(100)))
print(pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.ERROR).parse_error()[0].message)
pipeline.set_state(Gst.State.NULL)
""")
    expect(result.status == 0 and "A buffer of 100 bytes is too small" in result.out, result.last())


@test("the Python examples create GStreamer's enumerations before streaming threads use them")
def _(place):
    for folder, module in ((pipelines, "frames"), (pipelines / "archiving", "filmlength")):
        sources = "".join(path.read_text() for path in folder.rglob("*.py"))
        used = sorted(set(re.findall(r"\bGst\.([A-Z]\w+)\.[A-Z_]+\b", sources)))
        result = place.run(python, "-c", f"""
import {module}
from gi.repository import Gst
print([name for name in {used} if name not in vars(getattr(Gst, "_introspection_module", Gst))])
""", PYTHONPATH=folder)
        expect(len(used) > 4 and result.status == 0 and result.out == "[]\n", f"{module}: {result.last()}")


@test("examples check the names of files before they begin")
def _(place):
    film, left, right = (place.materials / name for name in ("film.mp4", "left.png", "right.png"))
    # These inputs have the extensions of outputs. GStreamer detects the type of a file from its content.
    inputs = {"film.mkv": film, "left.npy": left, "picture.png": left}
    for name, source in inputs.items():
        (place.folder / name).write_bytes(source.read_bytes())
    (place.folder / "link.mkv").symlink_to("film.mkv")
    cameras = ("--focal-length", "300", "--baseline", "60")
    for name, arguments, words in (("disparity.py", [film, film, "out.png"], "use .npy"),
                                   ("disparity.py", [left], "the right picture is missing"),
                                   ("disparity.py", ["none.png", film], "there is no such file"),
                                   ("disparity.py", [left, right, "none/out.npy"], "there is no folder none"),
                                   ("disparity.py", ["left.npy", right, "left.npy"], "this is the input itself"),
                                   ("disparity.py", [right, "left.npy", "./left.npy"], "this is the input itself"),
                                   ("point-cloud.py", [left, right, "out.obj", *cameras], "use .ply"),
                                   ("point-cloud.py", [left, right, "out.ply"], "--focal-length"),
                                   ("point-cloud.py", [left, right, "none/out.ply", *cameras], "there is no folder none"),
                                   ("point-cloud.py", [left, "none.png", "out.ply", *cameras], "there is no such file"),
                                   ("histogram.py", [film, "out.txt"], "use .png"),
                                   ("histogram.py", [left, "none/out.png"], "there is no folder none"),
                                   ("histogram.py", ["picture.png", "picture.png"], "this is the input itself"),
                                   ("blur.py", [film, "out.png"], "use .mkv"),
                                   ("blur.py", [film, "out.mkv", "--points", "1:500"], 'SIGMA from -127 to 127, not "1:500"'),
                                   ("blur.py", [film, "out.mkv", "--points", "3"], '--points: needs SECONDS:SIGMA, with SECONDS from 0 to 1e9 and SIGMA from -127 to 127, not "3"'),
                                   ("blur.py", [film, "none/out.mkv"], "there is no folder none"),
                                   ("blur.py", ["film.mkv", "film.mkv"], "this is the input itself"),
                                   ("blur.py", ["film.mkv", "link.mkv"], "this is the input itself"),
                                   ("blur.py", ["none.mp4"], "there is no such file"),
                                   ("blur.py", [place.materials], f"{place.materials}: this is a folder; name a file"),
                                   ("blur-faces.py", [film, "out.png"], "use .mkv"),
                                   ("blur-faces.py", [film, "none/out.mkv"], "there is no folder none"),
                                   ("blur-faces.py", ["film.mkv", "link.mkv"], "this is the input itself"),
                                   ("blur-faces.py", ["none.mp4"], "there is no such file"),
                                   ("blur-faces.py", [film, "out.mkv", "--cascade", "none.xml"], "apt-get install opencv-data"),
                                   ("blur-faces.py", [film, "out.mkv", "--cascade", film], "this is not a cascade"),
                                   ("blur-faces.py", [film, "out.mkv", "--cascade", place.materials], "this is a folder; name a file"),
                                   ("blur-faces.py", [film, "out.mkv", "--persistence", "-1"], "--persistence: needs a number from 0 to 86400, not -1"),
                                   ("blur-faces.py", [film, "out.mkv", "--lost", "1e9"], "--lost: needs a number from 0 to 86400, not 1e9"),
                                   ("calibrate.py", ["out.txt", "--square", "1"], "use .yml"),
                                   ("calibrate.py", ["out.yml", "--square", "1"], "--left and --right"),
                                   ("calibrate.py", ["out.yml", "--left", left, "--square", "1"], "--left and --right"),
                                   ("calibrate.py", ["out.yml", "--packed", left], "--square"),
                                   ("calibrate.py", ["out.yml", "--packed", left, "--square", "0"], "--square: needs a length in mm above 0 and below 1000000, not 0"),
                                   ("calibrate.py", ["out.yml", "--packed", left, "--square", "1", "--pairs", "2"], "--pairs: needs a whole number of at least 5, not 2"),
                                   ("calibrate.py", ["out.yml", "--packed", "none.png", "--square", "1"], "there is no such file"),
                                   ("calibrate.py", ["out.yml", "--left", left, left, "--right", right, "--square", "1"], "2 inputs of the left"),
                                   ("calibrate.py", ["out.yml", "--packed", left, "--square", "1", "--board", "9"], '--board: needs COLUMNSxROWS with at least 2 of each, such as 9x6, not "9"'),
                                   ("calibrate.py", ["out.yml", "--packed", left, "--square", "1", "--charuco", "DICT_1"], "no dictionary DICT_1"),
                                   ("calibrate.py", ["out.yml", "--packed", left, "--square", "1", "--alpha", "x"], '--alpha: needs a number, not "x"'),
                                   ("calibrate.py", ["out.yml", "--packed", left, "--square", "1", "--alpha", "2"], "--alpha"),
                                   ("calibrate.py", ["none/out.yml", "--packed", left, "--square", "1"], "there is no folder none"),
                                   ("calibrate.py", ["out.yml", "--packed", left, "--square", "1"], "found in 0 pairs"),
                                   ("calibrate.py", ["out.yml", "--packed", film, "--square", "1"], "found in 0 pairs"),
                                   ("integral.py", [film, "--size", "0"], "--size: needs a whole number from 1 to 4096, not 0"),
                                   ("integral.py", [film, "--size", "500"], "192x144")):
        result = place.run(python, pipelines / name, *arguments)
        expect(result.status in (1, 2) and words in result.err and "Traceback" not in result.err, f"{name}: {result.text}")
        expect("Writing" not in result.out and place.files() == sorted([*inputs, "link.mkv"]), f"{name} {arguments}: it begins to write")
    for name, source in inputs.items():
        expect((place.folder / name).read_bytes() == source.read_bytes(), f"{name} is not what it was")


@test("pipelines/disparity.py gives disparities in pixels")
def _(place):
    result = place.run(python, pipelines / "disparity.py", place.materials / "left.png", place.materials / "right.png", "map.npy",
                       "--property", "num-disparities=32")
    expect(result.status == 0 and re.match(r"96x48, [\d.]+ % of the disparities known\n", result.out), result.last())
    result = place.run(python, "-c", "import numpy; d = numpy.load('map.npy'); m = d[8:40, 20:80]; "
                       "print(d.dtype, d.shape, numpy.unique(m.round()), numpy.isnan(d).any())")
    expect(result.out == "float32 (48, 96) [6.] True\n", result.text)


@test("pipelines/point-cloud.py writes coloured points")
def _(place):
    result = place.run(python, pipelines / "point-cloud.py", place.materials / "left.png", place.materials / "right.png", "cloud.ply",
                       "--focal-length", "300", "--baseline", "60", "--property", "num-disparities=32")
    expect(result.status == 0 and result.out.startswith("96x48, points: "), result.last())
    count = int(result.out.split("points: ")[1].split()[0])
    place.play(f"filesrc location={place.materials / 'left.png'} ! pngdec ! videoconvert ! video/x-raw,format=RGB ! filesink location=left.raw")
    # Reads the file as a viewer would: each vertex has three floats and three bytes.
    header, vertices = (place.folder / "cloud.ply").read_bytes().split(b"end_header\n", 1)
    expect(f"element vertex {count}\n".encode() in header and len(vertices) == 15 * count, header.decode())
    result = place.run(python, "-c", "import numpy, sys\n"
                       "data = open('cloud.ply', 'rb').read().split(b'end_header\\n', 1)[1]\n"
                       "cloud = numpy.frombuffer(data, [('p', '<f4', 3), ('c', 'u1', 3)])\n"
                       "image = numpy.fromfile('left.raw', 'u1').reshape(48, 96, 3)\n"
                       "p = cloud['p'].astype(float)\n"
                       "x = (p[:, 0] * 300 / p[:, 2] + 47.5).round().astype(int)\n"
                       "y = (p[:, 1] * 300 / p[:, 2] + 23.5).round().astype(int)\n"
                       "near = abs(p[:, 2] - 300 * 60 / 6) < 150\n"
                       "print((image[y, x] == cloud['c']).all(), near.mean() > 0.9)")
    expect(result.out == "True True\n", result.text)


@test("pipelines/integral.py finds the brightest square")
def _(place):
    width, height = 91, 60  # the length of a row is not a multiple of 4
    rows = [[(7 * x + 13 * y) % 50 + (150 if 30 <= x < 46 and 21 <= y < 37 else 0) for x in range(width)] for y in range(height)]
    (place.folder / "frame.raw").write_bytes(b"".join(bytes(row) + b"\0" for row in rows))
    place.play(f"filesrc location=frame.raw blocksize={92 * height} ! rawvideoparse format=gray8 width={width} height={height} "
                 "plane-strides='<92>' ! pngenc snapshot=true ! filesink location=frame.png")
    sums = {(x, y): sum(sum(row[x:x + 16]) for row in rows[y:y + 16]) for y in range(height - 15) for x in range(width - 15)}
    (x, y), maximum = max(sums.items(), key=lambda item: item[1])
    whole = sum(map(sum, rows)) / (width * height)
    result = place.run(python, pipelines / "integral.py", place.folder / "frame.png", "--size", "16")
    expect(f"brightest at ({x}, {y}), mean {maximum / 256:.2f}; the whole frame {whole:.2f}" in result.out, result.last())


@test("pipelines/table-to-array.py finds the same square as integral.py")
def _(place):
    found = [place.run(python, pipelines / name, place.materials / "film.mp4", "--size", "40", "--frames", "20")
             for name in ("integral.py", "table-to-array.py")]
    lines = [[line.partition(";") for line in result.out.splitlines()] for result in found]
    expect(len(lines[0]) == 20 and [line[0] for line in lines[0]] == [line[0] for line in lines[1]], found[1].text)
    expect({line[2] for line in lines[1]} <= {" numpy, uint32", " cupy, uint32", " torch, torch.int32"}, found[1].last())
    result = place.run(python, pipelines / "table-to-array.py", place.materials / "film.mp4", "--size", "500")
    expect(result.status == 2 and "192x144" in result.err, result.text)


@test("pipelines/cudatensors.py maps tensors without a copy")
def _(place):
    result = place.program("""
import cudatensors, numpy
from frames import Gst
Gst.init(None)
def sample_of(dimensions, types, numbers):
    buffer = Gst.Buffer.new_wrapped(numbers.tobytes())
    caps = f"other/tensors, format=static, num_tensors=1, dimensions=(string){dimensions}, types=(string){types}"
    return Gst.Sample.new(buffer, Gst.Caps.from_string(caps), None, None), buffer
table, buffer = sample_of("1:3:2:1", "uint32", numpy.arange(6, dtype="u4"))
array = cudatensors.to_numpy(table)
mapped = cudatensors.MapInfo()
cudatensors.gst.gst_buffer_map(cudatensors.pointer_of(buffer), mapped, cudatensors.map_read)
print(array.ctypes.data == mapped.data, array.flags.writeable, array.dtype, array.tolist())
cudatensors.gst.gst_buffer_unmap(cudatensors.pointer_of(buffer), mapped)
del table, buffer
junk = [bytearray(24) for _ in range(1000)]
print(array.tolist())
points, _ = sample_of("3:2:1:1", "float32", numpy.arange(6, dtype="f4"))
print(cudatensors.to_numpy(points).tolist(), cudatensors.views_of(points, signed=True).__array_interface__["typestr"])
short, _ = sample_of("1:3:3:1", "uint32", numpy.arange(6, dtype="u4"))
try:
    cudatensors.to_numpy(short)
except RuntimeError as error:
    print(error)
""")
    expect(result.out == "True False uint32 [[0, 1, 2], [3, 4, 5]]\n[[0, 1, 2], [3, 4, 5]]\n[[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]] <f4\n"
           "the buffer has 24 bytes, but its caps need 36\n", result.text)


@test("pipelines/histogram.py plots the histogram")
def _(place):
    result = place.succeed(python, pipelines / "histogram.py", place.materials / "picture.png", "plot.svg")
    place.play(f"filesrc location={place.materials / 'picture.png'} ! pngdec ! video/x-raw,format=RGB ! filesink location=frame.raw")
    data = (place.folder / "frame.raw").read_bytes()
    luminance = [(299 * data[i] + 587 * data[i + 1] + 114 * data[i + 2]) // 1000 for i in range(0, len(data), 3)]
    expect(f"{len(luminance)} pixels, mean {statistics.fmean(luminance):.1f}" in result.out, f"{statistics.fmean(luminance)}: {result.last()}")
    svg = (place.folder / "plot.svg").read_text()
    expect("<svg" in svg and max(map(len, re.findall(r'd="([^"]*)"', svg))) > 2000, "there is no curve in the plot")


@test("pipelines/blur.py follows the given points of sigma")
def _(place):
    result = place.run(python, pipelines / "blur.py", place.materials / "film.mp4", "out.mkv", "--points", "0:0", "1:25", "2:0")
    expect(result.status == 0 and "Writing out.mkv" in result.out, result.last())
    data = place.gray("out.mkv")
    size = 192 * 144
    expect(len(data) == 50 * size, f"{len(data) // size} frames instead of 50")
    first, middle, last = (statistics.pstdev(data[n * size:(n + 1) * size:7]) for n in (0, 25, 49))
    # The video shows a ball in front of a black wall. A blur lowers the contrast of the ball.
    expect(middle < 0.8 * min(first, last), f"the standard deviations are {first:.1f}, {middle:.1f} and {last:.1f}")
