// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/rows.h"
#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::bench {

/// Measures everything on the GPU, or one group of operations: equalization, blur, integral,
/// nlmeans, stereo. Throws std::invalid_argument for any other. Only where CUDA is usable. Throws
/// Error, and std::runtime_error where a result differs from the CPU device's: a wrong result has
/// no speed.
std::vector<Row> measure_cuda(const std::string& group = "");

/// Its parts.
std::vector<Row> measure_equalization(const test::CudaTestDevice& device);
std::vector<Row> measure_blur(const test::CudaTestDevice& device);
std::vector<Row> measure_integral(const test::CudaTestDevice& device);
std::vector<Row> measure_nlmeans(const test::CudaTestDevice& device);
std::vector<Row> measure_stereo(const test::CudaTestDevice& device);

}  // namespace cudavision::bench
