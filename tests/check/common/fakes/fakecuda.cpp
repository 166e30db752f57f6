// SPDX-License-Identifier: LGPL-2.1-or-later
// A fake libcuda.so.1: device memory is host memory, and nothing is copied or launched.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using Handle = std::uintptr_t;

constexpr int out_of_memory = 2;  // CUDA_ERROR_OUT_OF_MEMORY
constexpr int no_device = 100;    // CUDA_ERROR_NO_DEVICE

std::atomic<int> devices{2}, streams_alive{0}, synchronized{0}, failing_streams{0}, retained{0};

}  // namespace

/* For tests */

/// Sets the number of GPUs. If it is 0, cuInit() fails.
EXPORTED int fake_set_devices(int count) {
  return devices = count;
}
EXPORTED int fake_streams_alive() {
  return streams_alive;
}
EXPORTED int fake_synchronized() {
  return synchronized;
}
/// Lets the next `count` calls of cuStreamCreate() fail.
EXPORTED int fake_fail_streams(int count) {
  return failing_streams = count;
}

EXPORTED int fake_primary_retained() {
  return retained;
}

/* Functions with effects */

/// Defines a function that returns `value` through its first parameter.
#define GIVES(name, type, value)         \
  EXPORTED int name(type* result, ...) { \
    *result = value;                     \
    return 0;                            \
  }

GIVES(cuDriverGetVersion, int, 12000)
GIVES(cuDeviceGetCount, int, devices)
GIVES(cuDeviceGetAttribute, int, 1)
GIVES(cuDeviceCanAccessPeer, int, 0)
GIVES(cuCtxCreate_v2, Handle, 1)

EXPORTED int cuInit(unsigned) {
  return devices > 0 ? 0 : no_device;
}

EXPORTED int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_FAKE";
  return 0;
}

EXPORTED int cuGetErrorString(int, const char** text) {
  *text = "the test made this call fail";
  return 0;
}

EXPORTED int cuDeviceGet(int* device, int number) {
  *device = number;
  return 0;
}

EXPORTED int cuDeviceGetName(char* name, int size, int) {
  if (size > 0)
    *name = '\0';
  return 0;
}

EXPORTED int cuDevicePrimaryCtxRetain(Handle* context, int) {
  ++retained;
  *context = 2;
  return 0;
}

EXPORTED int cuDevicePrimaryCtxRelease_v2(int) {
  --retained;
  return 0;
}

EXPORTED int cuCtxPopCurrent_v2(Handle* context) {
  if (context)
    *context = 1;
  return 0;
}

EXPORTED int cuMemAllocPitch_v2(Handle* memory, std::size_t* pitch, std::size_t row_bytes,
                                std::size_t rows, unsigned) {
  *pitch = (row_bytes + 511) / 512 * 512;
  *memory = reinterpret_cast<Handle>(std::calloc(rows, *pitch));
  return *memory ? 0 : out_of_memory;
}

EXPORTED int cuMemFree_v2(Handle memory) {
  std::free(reinterpret_cast<void*>(memory));
  return 0;
}

EXPORTED int cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  *memory = std::calloc(1, bytes);
  return *memory ? 0 : out_of_memory;
}

EXPORTED int cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}

EXPORTED int cuStreamCreate(Handle* stream, unsigned) {
  if (failing_streams > 0) {
    --failing_streams;
    return out_of_memory;
  }
  static std::atomic<Handle> last{100};
  *stream = ++last;
  ++streams_alive;
  return 0;
}

EXPORTED int cuStreamDestroy_v2(Handle) {
  --streams_alive;
  return 0;
}

EXPORTED int cuStreamDestroy(Handle stream) {
  return cuStreamDestroy_v2(stream);
}

EXPORTED int cuStreamSynchronize(Handle) {
  ++synchronized;
  return 0;
}

/* The other functions without which libgstcuda 1.22 to 1.26 refuses to load the driver */

#define DOES_NOTHING(name) \
  EXPORTED int name() {    \
    return 0;              \
  }
#define DO_NOTHING(a, b, c) DOES_NOTHING(a) DOES_NOTHING(b) DOES_NOTHING(c)

DOES_NOTHING(cuCtxDestroy_v2)
DOES_NOTHING(cuCtxPushCurrent_v2)
DO_NOTHING(cuCtxSynchronize, cuCtxEnablePeerAccess, cuCtxDisablePeerAccess)
DO_NOTHING(cuCtxGetLimit, cuCtxSetLimit, cuGLGetDevices_v2)
DO_NOTHING(cuGraphicsGLRegisterBuffer, cuGraphicsGLRegisterImage, cuGraphicsMapResources)
DO_NOTHING(cuGraphicsUnmapResources, cuGraphicsUnregisterResource, cuGraphicsResourceSetMapFlags_v2)
DO_NOTHING(cuGraphicsSubResourceGetMappedArray, cuGraphicsResourceGetMappedPointer_v2,
           cuMemAlloc_v2)
DO_NOTHING(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, cuMemcpyDtoD_v2)
DO_NOTHING(cuMemcpyDtoDAsync_v2, cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2)
DO_NOTHING(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, cuMemsetD2D8_v2)
DO_NOTHING(cuMemsetD2D8Async, cuMemsetD2D16_v2, cuMemsetD2D16Async)
DO_NOTHING(cuMemsetD2D32_v2, cuMemsetD2D32Async, cuModuleLoadData)
DO_NOTHING(cuModuleUnload, cuModuleGetFunction, cuTexObjectCreate)
DO_NOTHING(cuTexObjectDestroy, cuLaunchKernel, cuEventCreate)
DO_NOTHING(cuEventDestroy_v2, cuEventRecord, cuEventSynchronize)
DO_NOTHING(cuIpcGetEventHandle, cuIpcOpenEventHandle, cuIpcGetMemHandle)
DOES_NOTHING(cuIpcOpenMemHandle)
DOES_NOTHING(cuIpcCloseMemHandle)
