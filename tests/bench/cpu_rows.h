// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <benchmark/benchmark.h>

namespace cudavision::bench {

/// Real time, since the work is done by other threads than the one that asks for it.
inline void measured_in_real_time(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()->Unit(benchmark::kMicrosecond)->MinTime(0.2);
}

/// Registers the operations on integral images with Google Benchmark.
void register_integral();

/// Registers stereo matching.
void register_stereo();

}  // namespace cudavision::bench
