// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/bench/rows.h"
#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::bench {

/// Measures everything on the GPU, or one group of operations: equalization, clahe, blur, integral,
/// mosaic, nlmeans, regions, remap, repack or stereo. Requires a usable GPU. Throws
/// std::invalid_argument for any other group, Error if a device operation fails, and
/// std::runtime_error if a result differs from the CPU device's.
std::vector<Row> measure_cuda(const std::string& group = "");

/// Measure one group each.
std::vector<Row> measure_equalization(const test::CudaTestDevice& device);
std::vector<Row> measure_clahe(const test::CudaTestDevice& device);
std::vector<Row> measure_blur(const test::CudaTestDevice& device);
std::vector<Row> measure_integral(const test::CudaTestDevice& device);
std::vector<Row> measure_mosaic(const test::CudaTestDevice& device);
std::vector<Row> measure_nlmeans(const test::CudaTestDevice& device);
std::vector<Row> measure_regions(const test::CudaTestDevice& device);
std::vector<Row> measure_remap(const test::CudaTestDevice& device);
std::vector<Row> measure_repack(const test::CudaTestDevice& device);
std::vector<Row> measure_stereo(const test::CudaTestDevice& device);

}  // namespace cudavision::bench
