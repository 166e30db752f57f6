// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What a backend implements of histequalize.h. Layouts and parameters arrive validated.

#include <memory>

#include "cuda/histequalize/histequalize.h"

namespace cudavision::histequalize {

class Histogram::Backend {
 public:
  virtual ~Backend() = default;
  virtual void run(const ConstFrame& in, View<std::uint32_t> bins) = 0;
};

class HistogramEqualize::Backend {
 public:
  virtual ~Backend() = default;
  virtual void run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram,
                   const Parameters& parameters) = 0;
};

std::unique_ptr<Histogram::Backend> make_histogram_cpu(Device& device, const FrameLayout& layout);
std::unique_ptr<HistogramEqualize::Backend> make_histogram_equalize_cpu(Device& device,
                                                                        const FrameLayout& layout);

std::unique_ptr<Histogram::Backend> make_histogram_cuda(Device& device, const FrameLayout& layout);
std::unique_ptr<HistogramEqualize::Backend> make_histogram_equalize_cuda(Device& device,
                                                                         const FrameLayout& layout);

}  // namespace cudavision::histequalize
