// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces dlsym(), with which libgstcuda and the CUDA runtime look up the driver's functions (the
// runtime also uses cuGetProcAddress()). Counting functions replace the functions in the table.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "tests/check/common/faults/faults.h"

namespace {

using check::Calls;

enum class Role {
  enter,  ///< enters a context, which succeeds even if all work in it fails
  use,    ///< enqueues work, waits or queries
  make,   ///< creates a resource that must be freed
  free,   ///< frees a resource, even in a failing call, because callers cannot retry
};

struct Functions {
  Role role;
  /// Without suffix; a final * matches any further letters.
  std::array<std::string_view, 13> names;
};

/// Functions that elements call repeatedly. Others must not fail, because the runtime keeps errors.
constexpr Functions functions[] = {
    {Role::make,
     {"cuMemAlloc", "cuMemAllocPitch", "cuMemAllocAsync", "cuMemAllocHost", "cuMemHostAlloc",
      "cuMemHostRegister", "cuStreamCreate", "cuStreamCreateWithPriority", "cuEventCreate",
      "cuGraphCreate", "cuGraphInstantiate*", "cuCtxCreate", "cuDevicePrimaryCtxRetain"}},
    {Role::free,
     {"cuMemFree", "cuMemFreeAsync", "cuMemFreeHost", "cuMemHostUnregister", "cuStreamDestroy",
      "cuEventDestroy", "cuGraphDestroy", "cuGraphExecDestroy", "cuCtxDestroy",
      "cuDevicePrimaryCtxRelease"}},
    {Role::enter, {"cuCtxPushCurrent"}},
    {Role::use,
     {"cuMemcpy*", "cuMemset*", "cuMemGetInfo", "cuLaunch*", "cuGraphLaunch",
      "cuGraphAddKernelNode", "cuGraphAddDependencies", "cuGraphExecKernelNodeSetParams"}},
    {Role::use,
     {"cuStreamSynchronize", "cuStreamQuery", "cuStreamWaitEvent", "cuStreamIsCapturing",
      "cuEventRecord*", "cuEventQuery"}},
    {Role::use,
     {"cuEventSynchronize", "cuFuncGetAttribute", "cuFuncSetAttribute", "cuKernelGetAttribute",
      "cuKernelSetAttribute", "cuOccupancyMaxActiveBlocksPerMultiprocessor*"}},
};

// Error codes: CUDA_ERROR_OUT_OF_MEMORY, and CUDA_ERROR_OPERATING_SYSTEM, which is not sticky.
constexpr int out_of_memory = 2, operating_system = 304;

/// Removes _v2, and _ptsz or _ptds, which denote the per-thread default stream.
std::string_view without_suffix(std::string_view name) {
  const std::size_t suffix = name.find('_');
  return name.substr(0, suffix);
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty())
    return false;
  if (pattern.back() != '*')
    return name == pattern;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

const Role* role_of(std::string_view name) {
  for (const Functions& functions_of_role : functions)
    for (const std::string_view pattern : functions_of_role.names)
      if (matches(pattern, without_suffix(name)))
        return &functions_of_role.role;
  return nullptr;
}

/* Counting functions */

// On x86-64 and arm64, a caller may pass more arguments than the callee has parameters, so one
// function type serves for the whole table.
using Word = std::uintptr_t;
using DriverFunction = int (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

struct Counted {
  std::atomic<void*> real{nullptr};
  const char* name = nullptr;
  Role role = Role::use;
};
constexpr std::size_t max_counted = 256;
Counted counted_functions[max_counted];
std::mutex counted_mutex;

template <class... Words>
int count_and_call(const Counted& function, Words... words) {
  const bool fails = check::call_fails(Calls::cuda, function.name, function.role == Role::enter);
  if (fails && function.role != Role::free)
    return std::strstr(function.name, "Alloc") ? out_of_memory : operating_system;
  const auto real = reinterpret_cast<DriverFunction>(function.real.load());
  const int result = real(words...);
  if (result == 0 && function.role == Role::make)
    check::note_resource(Calls::cuda, 1);
  if (result == 0 && function.role == Role::free)
    check::note_resource(Calls::cuda, -1);
  return fails ? operating_system : result;
}

template <std::size_t number>
int counting(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j,
             Word k) {
  return count_and_call(counted_functions[number], a, b, c, d, e, f, g, h, i, j, k);
}

template <std::size_t... numbers>
constexpr std::array<DriverFunction, sizeof...(numbers)> all_counting(
    std::index_sequence<numbers...>) {
  return {counting<numbers>...};
}
constexpr auto counting_functions = all_counting(std::make_index_sequence<max_counted>());

/* cuGetProcAddress() */

using GetProcAddress = int (*)(const char* symbol, void** function, int version,
                               std::uint64_t flags, void* status);
std::atomic<void*> real_get_proc_address{nullptr};

// The second version of the function has a fifth parameter.
int get_proc_address(const char* symbol, void** function, int version, std::uint64_t flags,
                     void* status) {
  const auto real = reinterpret_cast<GetProcAddress>(real_get_proc_address.load());
  const int result = real(symbol, function, version, flags, status);
  if (result == 0 && function && *function)
    *function = check::counted_driver_function(symbol, *function);
  return result;
}

}  // namespace

namespace check {

void* counted_driver_function(const char* name, void* function) {
  if (without_suffix(name) == "cuGetProcAddress") {
    real_get_proc_address = function;
    return reinterpret_cast<void*>(get_proc_address);
  }
  const Role* known = role_of(name);
  if (!known)
    return function;
  const std::lock_guard lock(counted_mutex);
  for (std::size_t i = 0; i < max_counted; ++i) {
    Counted& counted = counted_functions[i];
    if (!counted.real) {
      counted.name = strdup(name);
      counted.role = *known;
      counted.real = function;
    }
    // If libgstcuda and the runtime look up the same function, they share a counting function.
    if (counted.real == function)
      return reinterpret_cast<void*>(counting_functions[i]);
  }
  std::fprintf(stderr,
               "driverfaults.cpp: more than %zu driver functions; raise max_counted for %s\n",
               max_counted, name);
  std::abort();
}

}  // namespace check

#if !defined(CUDAVISION_TEST_SANITIZED) && !defined(__SANITIZE_THREAD__)

namespace {

using DynamicSymbol = void* (*)(void*, const char*);

DynamicSymbol real_dlsym() {
  // dlvsym() finds the original dlsym(), whose version depends on glibc and the architecture.
  static const auto found = [] {
    void* function = nullptr;
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
      if (!function)
        function = dlvsym(RTLD_NEXT, "dlsym", version);
    return reinterpret_cast<DynamicSymbol>(function);
  }();
  return found;
}

}  // namespace

// Sanitizers look up replaced functions by RTLD_NEXT, which depends on the caller of dlsym().
extern "C" __attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  void* function = real_dlsym()(handle, name);
  return function ? check::counted_driver_function(name, function) : nullptr;
}

#endif
