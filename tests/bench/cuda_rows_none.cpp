// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/error.h"
#include "tests/bench/cuda_rows.h"

namespace cudavision::bench {

void add_cuda_rows(CudaRows&, const std::string&) {}

void CudaRows::measure(const Report&) const {
  throw Error(Error::Kind::device, "this build has no CUDA kernels");
}

}  // namespace cudavision::bench
