# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors of an appsink as arrays of CuPy, PyTorch or numpy, without a copy. CUDA memory stays on the GPU."""
import ctypes
import functools
import math

import numpy
from frames import Gst

map_read, map_cuda = int(Gst.MapFlags.READ), int(Gst.MapFlags.FLAG_LAST) << 1  # GST_MAP_READ, GST_MAP_CUDA


class MapInfo(ctypes.Structure):
    """GstMapInfo. PyGObject's would read the memory through a pointer of the GPU as if it were the host's, and crash."""
    _fields_ = [("memory", ctypes.c_void_p), ("flags", ctypes.c_int), ("data", ctypes.c_void_p),
                ("size", ctypes.c_size_t), ("maxsize", ctypes.c_size_t),
                ("user_data", ctypes.c_void_p * 4), ("reserved", ctypes.c_void_p * 4)]


gst = ctypes.CDLL("libgstreamer-1.0.so.0")
gst.gst_buffer_map.argtypes = [ctypes.c_void_p, ctypes.POINTER(MapInfo), ctypes.c_int]
gst.gst_buffer_unmap.argtypes = [ctypes.c_void_p, ctypes.POINTER(MapInfo)]
gst.gst_element_set_context.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


def pointer_of(thing):
    """The address of the C structure behind an object of PyGObject, which is its hash."""
    return ctypes.c_void_p(hash(thing))


def libgstcuda():
    """The library, with its driver loaded; OSError without one."""
    library = ctypes.CDLL("libgstcuda-1.0.so.0")
    if not library.gst_cuda_load_library():
        raise OSError("libgstcuda finds no driver")
    library.gst_cuda_memory_init_once()
    return library


def is_cuda(sample):
    return sample.get_caps().get_features(0).contains("memory:CUDAMemory")


class MappedTensor:
    """The memory of a sample while it is mapped. Arrays made of it keep it mapped, and must not be written to."""

    def __init__(self, sample, signed=False):
        self.buffer, structure = sample.get_buffer(), sample.get_caps().get_structure(0)
        cuda = is_cuda(sample)
        self.info, self.mapped = MapInfo(), False
        if not gst.gst_buffer_map(pointer_of(self.buffer), self.info, map_read | (map_cuda if cuda else 0)):
            raise RuntimeError("the tensor cannot be mapped")
        self.mapped = True
        if cuda:
            # GStreamer 1.24 and later push frames whose computation has not ended.
            wait = getattr(libgstcuda(), "gst_cuda_memory_sync", None)
            if wait:
                wait(ctypes.c_void_p(self.info.memory))
        # The innermost dimension comes first: 1:columns:rows:1, or 3:columns:rows:1 for points.
        numbers, columns, rows, _ = (int(number) for number in structure.get_string("dimensions").split(":"))
        kind = numpy.dtype(structure.get_string("types"))
        shape = (rows, columns) if numbers == 1 else (rows, columns, numbers)
        if self.info.size < math.prod(shape) * kind.itemsize:
            raise RuntimeError("the buffer is smaller than its caps say")
        if signed and kind.kind == "u":
            kind = numpy.dtype(f"i{kind.itemsize}")
        # Rows follow each other without a gap, so there are no strides. PyTorch takes nothing that is marked as read-only.
        interface = {"version": 3, "shape": shape, "typestr": kind.str, "data": (self.info.data, not cuda)}
        setattr(self, "__cuda_array_interface__" if cuda else "__array_interface__", interface)

    def __del__(self):
        if self.mapped:
            gst.gst_buffer_unmap(pointer_of(self.buffer), self.info)


def to_numpy(sample):
    return numpy.asarray(MappedTensor(sample))


def to_cupy(sample):
    import cupy
    return cupy.asarray(MappedTensor(sample)) if is_cuda(sample) else to_numpy(sample)


def to_torch(sample):
    import torch
    # PyTorch has few operations for unsigned integers. Differences of sums modulo 2^32 are the same with a sign.
    return torch.as_tensor(MappedTensor(sample, signed=True), device="cuda") if is_cuda(sample) else to_numpy(sample)


def array_maker():
    """The name of a library that is installed and can use a GPU, else numpy, and the function that makes its arrays."""
    for name, make in (("cupy", to_cupy), ("torch", to_torch)):
        try:
            if __import__(name).cuda.is_available() and libgstcuda():
                return name, make
        except (ImportError, OSError):
            pass
    return "numpy", to_numpy


@functools.cache
def primary_context(device):
    """The GstContext of a GPU's primary CUDA context, which is kept until the program ends."""
    driver, library = ctypes.CDLL("libcuda.so.1"), libgstcuda()
    handle, context = ctypes.c_int(), ctypes.c_void_p()
    for what, result in (("cuInit", driver.cuInit(0)), ("cuDeviceGet", driver.cuDeviceGet(ctypes.byref(handle), device)),
                         ("cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle))):
        if result != 0:
            raise RuntimeError(f"{what}: CUDA error {result}")
    library.gst_cuda_context_new_wrapped.restype = library.gst_context_new_cuda_context.restype = ctypes.c_void_p
    wrapped = ctypes.c_void_p(library.gst_cuda_context_new_wrapped(context, handle))
    if not wrapped:
        raise RuntimeError("libgstcuda cannot use the primary context")
    return ctypes.c_void_p(library.gst_context_new_cuda_context(wrapped))


def share_primary_context(pipeline, device=0):
    """Lets all elements compute in the CUDA context that CuPy and PyTorch use. Only pipelines in which other elements, such
    as nvh264dec, bring a context of their own need it. Call this before the pipeline starts."""
    gst.gst_element_set_context(pointer_of(pipeline), primary_context(device))
