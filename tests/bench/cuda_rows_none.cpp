// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_rows.h"
#include "error.h"

namespace cudavision::bench {

std::vector<Row> measure_cuda(const std::string&) {
  throw Error(Error::Kind::device, "this build has no CUDA kernels");
}

}  // namespace cudavision::bench
