# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/cudatensors.py and film-model.py: frames as arrays, arrays as frames, a model between two pipelines,
depth videos and capture times. Also the programs of docs/python.md and docs/pipelines.md."""
import re

from harness import Skip, expect, pipelines, python, test, top

reads = "docs/pipelines.md", "docs/python.md"  # in addition to SHARED of run.py

# The shapes of the planes by format. The frames have odd sizes, so the rows of most formats are padded.
formats = {"GRAY8": [(17, 33)], "GRAY16_LE": [(17, 33)], "NV12": [(17, 33), (9, 17, 2)], "P010_10LE": [(17, 33), (9, 17, 2)],
           "I420": [(17, 33), (9, 17), (9, 17)], "I420_10LE": [(17, 33), (9, 17), (9, 17)], "RGB": [(17, 33, 3)],
           "BGR": [(17, 33, 3)], "RGBA": [(17, 33, 4)], "BGRA": [(17, 33, 4)]}


@test("pipelines/cudatensors.py pushes arrays as frames and gets the same arrays from them")
def _(place):
    result = place.program(f"""
import cudatensors, numpy
from frames import Gst, GstVideo
Gst.init(None)

def to_list(arrays):
    return arrays if isinstance(arrays, list) else [arrays]

for name, shapes in {formats!r}.items():
    pipeline = Gst.parse_launch("appsrc name=src format=time ! identity ! appsink name=sink sync=false")
    caps = f"video/x-raw,format={{name}},width=33,height=17,framerate=30/1"
    source = cudatensors.ArraySource(pipeline.get_by_name("src"), caps)
    pipeline.set_state(Gst.State.PLAYING)
    numbers = numpy.random.default_rng(1)
    kind = "u1" if GstVideo.VideoInfo.new_from_caps(Gst.Caps.from_string(caps)).finfo.depth[0] == 8 else "<u2"
    frames = [[numbers.integers(0, numpy.iinfo(kind).max, shape, kind, endpoint=True) for shape in shapes] for _ in range(9)]
    good = all([source.push(frame if len(frame) > 1 else frame[0], 1000 * i, 10) for i, frame in enumerate(frames)])
    pipeline.get_by_name("src").emit("end-of-stream")
    got = []
    while sample := pipeline.get_by_name("sink").emit("pull-sample"):
        good &= sample.get_buffer().pts == 1000 * len(got) and sample.get_buffer().duration == 10
        got.append(to_list(cudatensors.to_numpy(sample)))
    pipeline.set_state(Gst.State.NULL)
    # Samples are freed, and their arrays keep the memory.
    good &= len(got) == 9 and all(a.shape == b.shape and (a == b).all() and not b.flags.writeable
                                  for pair in zip(frames, got) for a, b in zip(*pair))
    print(name, good)
for arrays in (numpy.zeros((17, 33), "u1"), numpy.zeros((17, 33, 4), "f4")):
    try:
        source.push(arrays, 0)
    except ValueError as error:
        print(error)

if Gst.version()[:2] < (1, 24):
    try:
        cudatensors.ArraySource(pipeline.get_by_name("src"), caps.replace("x-raw", "x-raw(memory:CUDAMemory)").replace("BGRA", "GRAY8"))
    except ValueError as error:
        print(str(error).partition(" has ")[2])
else:
    print("no GRAY8 buffers in CUDA memory: push arrays of numpy, or RGB")

def refused(caps):
    try:
        cudatensors.to_numpy(Gst.Sample.new(Gst.Buffer.new_allocate(None, 100, None), Gst.Caps.from_string(caps), None, None))
    except (RuntimeError, ValueError) as error:
        print(error)
refused("video/x-raw,format=YUY2,width=4,height=4,framerate=1/1")
refused("video/x-raw,format=GRAY8,width=101,height=1,framerate=1/1")
""")
    lines = result.out.splitlines()
    expect(lines[:len(formats)] == [f"{name} True" for name in formats], result.text)
    expect(lines[len(formats):] == [
        "the frame needs arrays of [((17, 33, 4), 'uint8')], not [((17, 33), 'uint8')]",
        "the frame needs arrays of [((17, 33, 4), 'uint8')], not [((17, 33, 4), 'float32')]",
        "no GRAY8 buffers in CUDA memory: push arrays of numpy, or RGB",
        f"YUY2 frames have no arrays; convert them to one of {', '.join(formats)}",
        "the buffer has 100 bytes, but its caps need 101"], result.text)


@test("pipelines/film-model.py runs a model on each frame of a video")
def _(place):
    if place.run(python, "-c", "import torch").status != 0:
        raise Skip("PyTorch is not installed: sudo apt-get install python3-torch")
    film = place.materials / "film.mp4"
    (place.folder / "model.py").write_text("""
import torch

class Quarter(torch.nn.Module):
    def forward(self, pictures):
        return 0 * pictures[:, :, ::2, ::2] + torch.tensor([1., 0.5, 0.]).reshape(1, 3, 1, 1)

torch.jit.save(torch.jit.script(Quarter()), "quarter.pt")
""")
    expect(place.run(python, "model.py").status == 0, "the model is not written")
    for options, size in (([], (144, 192)), (["--model", "quarter.pt"], (72, 96))):
        place.succeed(pipelines / "film-model.py", film, "out.mkv", "--strength", "3", *options)
        result = place.program(f"""
import frames
def read(name):
    player = frames.Player(f"{{frames.source_of(name)}} ! video/x-raw,format=RGB ! appsink name=sink sync=false")
    with player:
        return list(player.frames())
film, out = read({str(film)!r}), read("out.mkv")
print(len(film) == len(out), [out[0][1].shape[:2], max(abs(a[0] - b[0]) for a, b in zip(film, out)) < 0.002])
print(*out[0][1].reshape(-1, 3).mean(0).round(), out[0][1].std() > 5)
""")
        expect(result.out.startswith(f"True [({size[0]}, {size[1]}), True]\n"), result.text)
        means = [float(number) for number in result.out.splitlines()[1].split()[:3]]
        if options:
            expect(all(abs(mean - wanted) < 6 for mean, wanted in zip(means, (255, 128, 0))), result.text)
        else:  # edges are gray, on black
            expect(max(means) - min(means) < 6 and 0 < means[0] < 128 and result.out.endswith("True\n"), result.text)
    for arguments, words in (([film, film], "this is the input itself"), ([film, "out.mkv", "--model", "none.pt"], "none.pt: there is no such file"),
                             ([film, "out.mkv", "--model", place.folder], "this is a folder; name a file")):
        result = place.script("film-model.py", *arguments)
        expect(result.status == 1 and words in result.err, result.text)


@test("a video of left, right and depth keeps every bit of the depth, and stays synchronous")
def _(place):
    place.play("cudasgmstereo name=stereo output=depth num-disparities=32 focal-length=100 baseline=60 ! queue ! video/x-raw,format=GRAY16_LE "
               "! tee name=depth ! queue ! avenc_ffv1 ! mux.  depth. ! queue ! filesink location=depth.raw  " +
               "  ".join(f"filesrc location={place.materials}/{side}.mkv ! matroskademux ! vp8dec ! videoconvert ! tee name={side} ! queue "
                         f"! stereo.sink_{side}  {side}. ! queue ! videoconvert ! x264enc tune=zerolatency ! mux."
                         for side in ("left", "right")) + "  matroskamux name=mux ! filesink location=rig.mkv")
    place.play("filesrc location=rig.mkv ! matroskademux ! avdec_ffv1 ! video/x-raw,format=GRAY16_LE ! filesink location=read.raw")
    depth = (place.folder / "depth.raw").read_bytes()
    expect(len(set(depth)) > 2 and depth == (place.folder / "read.raw").read_bytes(), "the depth is another one")
    result = place.program("""
from frames import Gst
Gst.init(None)
pipeline = Gst.parse_launch("filesrc location=rig.mkv ! matroskademux name=demux " + " ".join(
    f"demux.video_{track} ! queue ! appsink name=sink{track} sync=false" for track in range(3)))
pipeline.set_state(Gst.State.PLAYING)
times, kinds = [[], [], []], []
for track in range(3):
    while sample := pipeline.get_by_name(f"sink{track}").emit("pull-sample"):
        times[track].append(sample.get_buffer().pts)
        caps = sample.get_caps().get_structure(0).get_name()
    kinds.append(caps)
print(kinds, len(times[0]), times[0] == times[1] == times[2])
""")
    expect(result.out == "['video/x-ffv', 'video/x-h264', 'video/x-h264'] 25 True\n", result.text)


@test("docs/python.md shows Open3D and ROS 2 depth, intrinsics and capture times")
def _(place):
    place.succeed(python, top / "tests/pipelines/boards.py", place.folder, "chessboard", "pinhole")
    place.succeed(python, pipelines / "calibrate.py", "stereo.yml", "--left", "left*.png", "--right", "right*.png", "--board", "8x6", "--square", "30")
    for side in ("left", "right"):
        place.play(f"multifilesrc location={side}%02d.png start-index=1 stop-index=2 caps=image/png,framerate=10/1 ! pngdec ! videoconvert "
                   f"! video/x-raw,format=GRAY8 ! avenc_ffv1 ! matroskamux ! filesink location={side}.mkv")
    open3d, ros = (block for block in re.findall(r"^```python\n(.*?)^```$", (top / "docs/python.md").read_text(), re.M | re.S)
                   if "open3d" in block or "sensor_msgs" in block)
    # Fakes replace Open3D and ROS 2, so that the test needs neither.
    result = place.program(f"""
import array, time, types
import cv2, numpy
import cudatensors, frames
from frames import Gst
seen = []
def create_from_depth_image(image, intrinsics, depth_scale, depth_trunc):
    seen.append((image, intrinsics, depth_scale))
    return "cloud"
open3d = types.SimpleNamespace(
    camera=types.SimpleNamespace(PinholeCameraIntrinsic=lambda width, height, fx, fy, cx, cy: (width, height, fx, fy, cx, cy)),
    geometry=types.SimpleNamespace(Image=lambda array: array, PointCloud=types.SimpleNamespace(create_from_depth_image=create_from_depth_image)),
    visualization=types.SimpleNamespace(draw_geometries=print))
{open3d}
image, (width, height, fx, fy, cx, cy), scale = seen[1]
print(len(seen), image.shape, image.dtype, image.flags.c_contiguous, (width, height), abs(fx - 502) < 10, fx == fy, scale)
class Message(types.SimpleNamespace):
    def __init__(self, **fields):
        super().__init__(**{{"header": types.SimpleNamespace(), **fields}})
sensor_msgs = types.SimpleNamespace(msg=types.SimpleNamespace(Image=Message, CameraInfo=Message))
rclpy = types.SimpleNamespace(time=types.SimpleNamespace(Time=lambda nanoseconds: types.SimpleNamespace(to_msg=lambda: nanoseconds)))
{ros}
# The time of the first frame is derived from its PTS; the second has it in a reference timestamp meta.
caps = "video/x-raw,format=GRAY16_LE,width=6,height=4,framerate=10/1"
pipeline = Gst.parse_launch(f"appsrc name=src format=time is-live=true caps={{caps}} ! cudagaussblur sigma=0.5 ! appsink name=sink sync=false")
source, sink = (pipeline.get_by_name(name) for name in ("src", "sink"))
pipeline.set_state(Gst.State.PLAYING)
for known in (False, True):
    buffer = Gst.Buffer.new_wrapped(numpy.full((4, 6), 700, "<u2").tobytes())
    taken = time.time_ns()
    buffer.pts = pipeline.get_clock().get_time() - pipeline.get_base_time()
    if known:
        taken = 1700000000_123456789
        buffer.add_reference_timestamp_meta(Gst.Caps.from_string("timestamp/x-unix"), taken, Gst.CLOCK_TIME_NONE)
    source.emit("push-buffer", buffer)
    sample = sink.emit("pull-sample")
    time.sleep(0.5)
    image, info = depth_messages(pipeline, sample, p1)
    print(abs(image.header.stamp - taken) < (1 if known else 200_000_000), info.header is image.header, len(image.data) == image.step * image.height,
          image.data[:2].tolist(), info.k.shape, info.p.shape)
pipeline.set_state(Gst.State.NULL)
""")
    if "-Dopencv=enabled" in result.err:
        raise Skip("this build has no OpenCV")
    line = "True True True [188, 2] (9,) (12,)"
    expect(result.out.splitlines() == ["['cloud']", "2 (480, 640) uint16 True (640, 480) True True 1000", line, line], result.text)


@test("every element keeps the time at which a frame was taken")
def _(place):
    elements = ("cudahistequalize", "cudagaussblur", "cudapixelate", "cudadenoise frames=3", "cudaguidedfilter", "cudathreshold", "cudaintegral")
    result = place.program(f"""
from frames import Gst
Gst.init(None)
unix = Gst.Caps.from_string("timestamp/x-unix")
source = "appsrc name={{}} format=time caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
lines = [f"{{source.format('left')}} ! {{element}} ! appsink name=sink sync=false" for element in {elements!r}]
lines.append("cudasgmstereo name=stereo num-disparities=32 focal-length=500 baseline=100 ! queue ! appsink name=sink sync=false "
             "stereo.points ! queue ! appsink name=points sync=false "
             f"{{source.format('left')}} ! queue ! stereo.sink_left {{source.format('right')}} ! queue ! stereo.sink_right")
for line in lines:
    pipeline = Gst.parse_launch(line)
    pipeline.set_state(Gst.State.PLAYING)
    for side, late in (("left", 0), ("right", 7)):
        for number in range(3 if pipeline.get_by_name(side) else 0):
            buffer = Gst.Buffer.new_wrapped(bytes(64 * 48))
            buffer.pts = number * Gst.SECOND // 25
            buffer.add_reference_timestamp_meta(unix, 1000 * number + late, Gst.CLOCK_TIME_NONE)
            pipeline.get_by_name(side).emit("push-buffer", buffer)
        if pipeline.get_by_name(side):
            pipeline.get_by_name(side).emit("end-of-stream")
    for sink in filter(None, map(pipeline.get_by_name, ("sink", "points"))):
        times = []
        while sample := sink.emit("pull-sample"):
            meta = sample.get_buffer().get_reference_timestamp_meta(unix)
            times.append(meta and meta.timestamp)
        print(times)
    pipeline.set_state(Gst.State.NULL)
""")
    expect(result.out.splitlines() == ["[0, 1000, 2000]"] * (len(elements) + 2), result.text)


@test("the program at the beginning of docs/pipelines.md blurs its pictures")
def _(place):
    text = (top / "docs/pipelines.md").read_text()
    program = re.search(r"^```python\n(import sys.*?)^```$", text, re.M | re.S)
    expect(text[:program.start()].count("\n") < 25, "it is not on the first screen")
    (place.folder / "program.py").write_text(program[1])
    result = place.run(python, "program.py")
    deviations = [float(number) for number in re.findall(r"^\d\.\d\d s: standard deviation (.*)$", result.out, re.M)]
    # The noise has a standard deviation of 74.
    expect(result.status == 0 and len(deviations) == 10 and all(2 < one < 6 for one in deviations), result.text)
