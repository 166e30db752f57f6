// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/rows.h"
#include "tests/kernels/common/cuda_testing.h"

namespace cudavision::bench {

/// The rows of the GPU half: those that are wanted are registered first and measured later.
class CudaRows {
 public:
  using Report = std::function<void(const Row&)>;
  using Series = std::function<void(const test::CudaTestDevice&, const Report&)>;

  /// Leaves out rows whose names contain no match of `wanted`.
  explicit CudaRows(std::regex wanted) : wanted_(std::move(wanted)) {}

  /// Adds a row, whose times `measure` fills in.
  void add(const Row& row, const std::function<void(const test::CudaTestDevice&, Row&)>& measure) {
    add_series(row, [row, measure](const test::CudaTestDevice& device, const Report& report) {
      Row measured = row;
      measure(device, measured);
      report(measured);
    });
  }

  /// Adds rows that are measured together; `title` has the name of all of them.
  void add_series(const Row& title, Series measure) {
    if (!std::regex_search(title.name(), wanted_))
      return;
    names_.push_back(title.name());
    series_.push_back(std::move(measure));
  }

  const std::vector<std::string>& names() const { return names_; }

  /// Measures all rows and reports each at once. Requires a usable GPU. Throws Error if a device
  /// operation fails, and std::runtime_error if a result differs from the CPU device's.
  void measure(const Report& report) const;

 private:
  std::regex wanted_;
  std::vector<std::string> names_;
  std::vector<Series> series_;
};

/// Adds the rows of one group, or of all if `group` is empty: equalization, clahe, blur, guided,
/// integral, mosaic, nlmeans, regions, remap, repack or stereo. A build without CUDA has none.
void add_cuda_rows(CudaRows& rows, const std::string& group);

/// Add one group each.
void add_cuda_equalization(CudaRows& rows);
void add_cuda_clahe(CudaRows& rows);
void add_cuda_blur(CudaRows& rows);
void add_cuda_guided(CudaRows& rows);
void add_cuda_integral(CudaRows& rows);
void add_cuda_mosaic(CudaRows& rows);
void add_cuda_nlmeans(CudaRows& rows);
void add_cuda_regions(CudaRows& rows);
void add_cuda_remap(CudaRows& rows);
void add_cuda_repack(CudaRows& rows);
void add_cuda_stereo(CudaRows& rows);

}  // namespace cudavision::bench
