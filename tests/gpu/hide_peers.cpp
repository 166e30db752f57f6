// SPDX-License-Identifier: LGPL-2.1-or-later
// A library for LD_PRELOAD. It hides the GPUs' peer access from libgstcuda, so that frames move
// between GPUs through system memory, as on a host without peer access.
#include <dlfcn.h>

#include <cstring>

namespace {

using DynamicSymbol = void* (*)(void*, const char*);

DynamicSymbol real_dlsym() {
  // Since glibc 2.34, dlsym() is in libc and has this version. Before, it was in libdl.
  void* function = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (!function)
    function = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return reinterpret_cast<DynamicSymbol>(function);
}

int cannot_access_peer(int* can_access, int, int) {
  *can_access = 0;
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  static const DynamicSymbol real = real_dlsym();
  if (std::strcmp(name, "cuDeviceCanAccessPeer") == 0)
    return reinterpret_cast<void*>(cannot_access_peer);
  return real(handle, name);
}
