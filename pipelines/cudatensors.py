# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts frames and tensors from an appsink to arrays of CuPy, PyTorch or numpy without a copy, and copies arrays into frames
for an appsrc. Data in CUDA memory stays on the GPU."""
import ctypes
import functools
import math

import numpy
from frames import Gst, GstVideo, is_tensor, layout_of_tensor

map_read, map_write = int(Gst.MapFlags.READ), int(Gst.MapFlags.WRITE)
map_cuda = int(Gst.MapFlags.FLAG_LAST) << 1  # GST_MAP_CUDA

# Number of interleaved channels in each plane, by format.
channels_of_planes = {"GRAY8": (1,), "GRAY16_LE": (1,), "NV12": (1, 2), "P010_10LE": (1, 2), "I420": (1, 1, 1), "I420_10LE": (1, 1, 1),
                      "RGB": (3,), "BGR": (3,), "RGBA": (4,), "BGRA": (4,)}


class MapInfo(ctypes.Structure):
    """GstMapInfo. PyGObject's own wrapper dereferences the pointer on the host, which crashes for device memory."""
    _fields_ = [("memory", ctypes.c_void_p), ("flags", ctypes.c_int), ("data", ctypes.c_void_p),
                ("size", ctypes.c_size_t), ("maxsize", ctypes.c_size_t),
                ("user_data", ctypes.c_void_p * 4), ("reserved", ctypes.c_void_p * 4)]


class BufferHead(ctypes.Structure):
    """The first fields of GstBuffer."""
    _fields_ = [("mini_object", ctypes.c_uint64 * 8), ("pool", ctypes.c_void_p), ("pts", ctypes.c_uint64),
                ("dts", ctypes.c_uint64), ("duration", ctypes.c_uint64)]


class VideoMeta(ctypes.Structure):
    """The first fields of GstVideoMeta."""
    _fields_ = [("meta_flags", ctypes.c_int), ("meta_info", ctypes.c_void_p), ("buffer", ctypes.c_void_p),
                ("flags", ctypes.c_int), ("format", ctypes.c_int), ("id", ctypes.c_int), ("width", ctypes.c_uint),
                ("height", ctypes.c_uint), ("n_planes", ctypes.c_uint), ("offset", ctypes.c_size_t * 4),
                ("stride", ctypes.c_int * 4)]


def functions_of(library, **functions):
    """Declares the types of functions of a library, given as name=(result type, argument types...), and returns the library."""
    for name, (result, *arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


Pointer = ctypes.c_void_p
gst = functions_of(
    ctypes.CDLL("libgstreamer-1.0.so.0"), gst_buffer_map=(ctypes.c_int, Pointer, ctypes.POINTER(MapInfo), ctypes.c_int),
    gst_buffer_unmap=(None, Pointer, ctypes.POINTER(MapInfo)), gst_element_set_context=(None, Pointer, Pointer),
    gst_mini_object_unref=(None, Pointer), gst_object_unref=(None, Pointer), gst_buffer_pool_get_config=(Pointer, Pointer),
    gst_buffer_pool_config_set_params=(None, Pointer, Pointer, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint),
    gst_buffer_pool_config_add_option=(None, Pointer, ctypes.c_char_p),
    gst_buffer_pool_set_config=(ctypes.c_int, Pointer, Pointer), gst_buffer_pool_set_active=(ctypes.c_int, Pointer, ctypes.c_int),
    gst_buffer_pool_acquire_buffer=(ctypes.c_int, Pointer, ctypes.POINTER(Pointer), Pointer))
gstvideo = functions_of(ctypes.CDLL("libgstvideo-1.0.so.0"), gst_buffer_get_video_meta=(ctypes.POINTER(VideoMeta), Pointer),
                        gst_video_buffer_pool_new=(Pointer,))
gstapp = functions_of(ctypes.CDLL("libgstapp-1.0.so.0"), gst_app_src_push_buffer=(ctypes.c_int, Pointer, Pointer))


def pointer_of(thing):
    """Returns the address of the C structure in a PyGObject wrapper. PyGObject uses this address as the wrapper's hash."""
    return thing if isinstance(thing, Pointer) else Pointer(hash(thing))


@functools.cache
def libgstcuda():
    """Returns libgstcuda with the driver loaded. Raises OSError without a driver."""
    library = functions_of(
        ctypes.CDLL("libgstcuda-1.0.so.0"), gst_cuda_context_new_wrapped=(Pointer, Pointer, ctypes.c_int),
        gst_context_new_cuda_context=(Pointer, Pointer), gst_cuda_buffer_pool_new=(Pointer, Pointer))
    if not library.gst_cuda_load_library():
        raise OSError("libgstcuda finds no NVIDIA driver")
    library.gst_cuda_memory_init_once()
    return library


def is_cuda(caps):
    return caps.get_features(0).contains("memory:CUDAMemory")


class MappedBuffer:
    """Maps a GstBuffer, and unmaps it when the last reference is dropped."""

    def __init__(self, buffer, cuda, access=map_read):
        self.buffer, self.cuda, self.info = buffer, cuda, MapInfo()
        if not gst.gst_buffer_map(pointer_of(buffer), self.info, access | (map_cuda if cuda else 0)):
            raise RuntimeError("GStreamer cannot map the buffer; GST_DEBUG=2 prints the reason")
        if cuda and access == map_read:
            # Waits for GPU work on the frame. From GStreamer 1.24 on, frames may be pushed before this work is complete.
            wait = getattr(libgstcuda(), "gst_cuda_memory_sync", None)
            if wait:
                wait(Pointer(self.info.memory))

    def unmap(self):
        if self.info.memory:
            gst.gst_buffer_unmap(pointer_of(self.buffer), self.info)
            self.info.memory = None

    def __del__(self):
        self.unmap()

    def view(self, offset, shape, kind, strides=None):
        """Returns a view of an array at this byte offset; `kind` is its numpy.dtype. Without strides (in
        bytes), the array is contiguous."""
        last = math.prod(shape) * kind.itemsize if strides is None else \
            sum((count - 1) * stride for count, stride in zip(shape, strides)) + kind.itemsize
        if offset + last > self.info.size:
            raise RuntimeError(f"the buffer has {self.info.size} bytes, but its caps need {offset + last}")
        return ArrayView(self, offset, shape, kind, strides)


class ArrayView:
    """A part of a mapped buffer with the array interface that numpy, CuPy and PyTorch read. Arrays made from it keep the buffer
    mapped."""

    def __init__(self, mapped, offset, shape, kind, strides):
        self.mapped, self.shape, self.kind = mapped, shape, kind
        interface = {"version": 3, "shape": shape, "strides": strides, "typestr": kind.str, "data": (mapped.info.data + offset, False)}
        setattr(self, "__cuda_array_interface__" if mapped.cuda else "__array_interface__", interface)


def tensor_view(mapped, caps, signed=False):
    shape, kind = layout_of_tensor(caps)
    if signed and kind.kind == "u":
        kind = numpy.dtype(f"i{kind.itemsize}")
    return mapped.view(0, shape, kind)


def plane_views(mapped, caps):
    """Returns a view of each plane of a frame. Its shape is (rows, columns), or (rows, columns, channels) if the plane has
    several channels."""
    info = GstVideo.VideoInfo.new_from_caps(caps)
    name = info.finfo.name
    if name not in channels_of_planes:
        raise ValueError(f"{name} frames have no arrays; convert them to one of {', '.join(channels_of_planes)}")
    meta = gstvideo.gst_buffer_get_video_meta(pointer_of(mapped.buffer))
    offsets, pitches = (meta.contents.offset, meta.contents.stride) if meta else (info.offset, info.stride)
    kind = numpy.dtype("u1" if info.finfo.depth[0] == 8 else "<u2")
    views = []
    for plane, channels in enumerate(channels_of_planes[name]):
        subsampled = plane > 0  # all formats in channels_of_planes with several planes have 4:2:0 sampling
        size = tuple(length + 1 >> 1 if subsampled else length for length in (info.height, info.width))
        pixel = channels * kind.itemsize
        views.append(mapped.view(offsets[plane], size if channels == 1 else (*size, channels), kind,
                                 (pitches[plane], pixel) if channels == 1 else (pitches[plane], pixel, kind.itemsize)))
    return views


def views_of(sample, signed=False):
    """Returns the view of a tensor or frame, or a list of views if the frame has several planes."""
    caps = sample.get_caps()
    mapped = MappedBuffer(sample.get_buffer(), is_cuda(caps))
    if is_tensor(caps):
        return tensor_view(mapped, caps, signed)
    views = plane_views(mapped, caps)
    return views if len(views) > 1 else views[0]


def arrays_of(views, make):
    return [make(view) for view in views] if isinstance(views, list) else make(views)


def to_numpy(sample):
    return arrays_of(views_of(sample), read_only)


def read_only(view):
    array = numpy.asarray(view)
    array.flags.writeable = False
    return array


def to_cupy(sample):
    import cupy
    return arrays_of(views_of(sample), cupy.asarray) if is_cuda(sample.get_caps()) else to_numpy(sample)


def to_torch(sample):
    import torch
    # Tensors of sums become signed integers, because PyTorch has few operations on unsigned integers. Sums wrap, so their
    # differences have the same bits in signed integers.
    return arrays_of(views_of(sample, signed=True), lambda view: torch.as_tensor(view, device="cuda")) \
        if is_cuda(sample.get_caps()) else to_numpy(sample)


def array_maker():
    """Returns the name of an array library and the function that converts samples to its arrays: CuPy or PyTorch if it can
    use a GPU, otherwise numpy."""
    for name, make in (("cupy", to_cupy), ("torch", to_torch)):
        try:
            if __import__(name).cuda.is_available() and libgstcuda():
                return name, make
        except (ImportError, OSError):
            pass
    return "numpy", to_numpy


@functools.cache
def primary_context(device):
    """Returns a GstCudaContext that wraps the primary CUDA context of a GPU, and keeps it until the program ends."""
    driver, library = ctypes.CDLL("libcuda.so.1"), libgstcuda()
    handle, context = ctypes.c_int(), Pointer()
    for what, result in (("cuInit", driver.cuInit(0)), ("cuDeviceGet", driver.cuDeviceGet(ctypes.byref(handle), device)),
                         ("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle))):
        if result != 0:
            raise RuntimeError(f"{what}: CUDA error {result}")
    wrapped = library.gst_cuda_context_new_wrapped(context, handle)
    if not wrapped:
        raise RuntimeError(f"libgstcuda cannot use the primary context of GPU {device}; GST_DEBUG=2 prints the reason")
    return wrapped


def share_primary_context(pipeline, device=0):
    """Makes all elements use the CUDA context of CuPy and PyTorch. Only needed if other elements, such as nvh264dec, would
    create their own context. Call this before the pipeline starts."""
    gst.gst_element_set_context(pointer_of(pipeline), libgstcuda().gst_context_new_cuda_context(primary_context(device)))


class ArraySource:
    """Pushes arrays as frames into an appsrc with format=time. If the caps are video/x-raw(memory:CUDAMemory), takes arrays of
    CuPy and PyTorch, and copies them on the GPU; otherwise takes arrays of numpy. The arrays have the shapes that to_numpy()
    returns."""

    def __init__(self, appsrc, caps, device=0):
        self.appsrc, self.caps = appsrc, Gst.Caps.from_string(caps) if isinstance(caps, str) else caps
        self.cuda = is_cuda(self.caps)
        name = self.caps.get_structure(0).get_string("format")
        # With GRAY8 and GRAY16_LE, the CUDA buffer pool of GStreamer before 1.24 aborts the process.
        if self.cuda and name.startswith("GRAY") and Gst.version()[:2] < (1, 24):
            raise ValueError(f"GStreamer {Gst.version_string()[10:]} has no {name} buffers in CUDA memory: push arrays of numpy, or RGB")
        appsrc.set_property("caps", self.caps)
        self.pool = libgstcuda().gst_cuda_buffer_pool_new(primary_context(device)) if self.cuda else gstvideo.gst_video_buffer_pool_new()
        config = gst.gst_buffer_pool_get_config(self.pool)
        gst.gst_buffer_pool_config_set_params(config, pointer_of(self.caps), GstVideo.VideoInfo.new_from_caps(self.caps).size, 0, 0)
        gst.gst_buffer_pool_config_add_option(config, b"GstBufferPoolOptionVideoMeta")
        if not gst.gst_buffer_pool_set_config(self.pool, config) or not gst.gst_buffer_pool_set_active(self.pool, True):
            raise RuntimeError(f"the buffer pool cannot provide buffers for {self.caps.to_string()}; GST_DEBUG=2 prints the reason")

    def __del__(self):
        if hasattr(self, "pool"):
            gst.gst_buffer_pool_set_active(self.pool, False)
            gst.gst_object_unref(self.pool)

    def push(self, arrays, pts, duration=Gst.CLOCK_TIME_NONE):
        """Pushes a frame: an array, or a list of arrays, one for each plane. Times are in nanoseconds. Returns False if the
        pipeline has ended or failed; the error is on its bus."""
        buffer = Pointer()
        if gst.gst_buffer_pool_acquire_buffer(self.pool, ctypes.byref(buffer), None) != 0:
            raise RuntimeError(f"there is no {'GPU' if self.cuda else 'system'} memory for another frame of {self.caps.to_string()}: "
                               "set block=true on the appsrc, which limits its queue, or push smaller frames")
        try:
            self.fill(buffer, arrays if isinstance(arrays, (list, tuple)) else [arrays])
        except BaseException:
            gst.gst_mini_object_unref(buffer)
            raise
        head = BufferHead.from_address(buffer.value)
        head.pts, head.duration = pts, duration
        return gstapp.gst_app_src_push_buffer(pointer_of(self.appsrc), buffer) == 0  # takes ownership of the buffer

    def fill(self, buffer, arrays):
        mapped = MappedBuffer(buffer, self.cuda, map_write)
        try:
            views = plane_views(mapped, self.caps)
            needed = [(view.shape, view.kind.name) for view in views]
            given = [(tuple(array.shape), str(array.dtype).removeprefix("torch.")) for array in arrays]
            if needed != given:
                raise ValueError(f"the frame needs arrays of {needed}, not {given}")
            for view, array in zip(views, arrays):
                if not self.cuda:
                    numpy.asarray(view)[...] = numpy.asarray(array)
                elif type(array).__module__ == "torch":
                    import torch
                    torch.as_tensor(view, device="cuda").copy_(array)
                    torch.cuda.current_stream().synchronize()
                else:
                    import cupy
                    cupy.asarray(view)[...] = cupy.asarray(array)
                    cupy.cuda.get_current_stream().synchronize()
        finally:
            mapped.unmap()
