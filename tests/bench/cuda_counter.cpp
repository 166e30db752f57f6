// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/cuda_counter.h"

#include <dlfcn.h>

#include <cstdlib>

namespace cudavision::bench {

std::optional<CudaCounter> CudaCounter::begin() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  // Only the driver may load the library, because it has to be there before the driver's first
  // context.
  void* library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!library)
    return std::nullopt;
  const auto count = reinterpret_cast<CountCuda>(dlsym(library, count_cuda_symbol));
  const auto read = reinterpret_cast<ReadCudaCounts>(dlsym(library, read_cuda_counts_symbol));
  dlclose(library);  // the driver keeps it loaded
  if (!count || !read)
    return std::nullopt;
  count(true);
  return CudaCounter(count, read);
}

CudaCounts CudaCounter::end() const {
  CudaCounts last;
  read_(&last);
  count_(false);
  const auto since = [&](std::uint64_t CudaCounts::*number) {
    return last.*number - first_.*number;
  };
  return {since(&CudaCounts::uploads),       since(&CudaCounts::downloads),
          since(&CudaCounts::device_copies), since(&CudaCounts::launches),
          since(&CudaCounts::kernels),       since(&CudaCounts::allocations),
          since(&CudaCounts::lost)};
}

}  // namespace cudavision::bench
