// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/error.h"
#include "tests/bench/cuda_rows.h"

namespace cudavision::bench {

std::vector<Row> measure_cuda(const std::string&) {
  throw Error(Error::Kind::device, "this build has no CUDA kernels");
}

}  // namespace cudavision::bench
