// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <benchmark/benchmark.h>

namespace cudavision::bench {

/// Measures real time, because other threads than the calling one do most of the work.
inline void measured_in_real_time(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseRealTime()->Unit(benchmark::kMicrosecond);
}

/// Registers adaptive equalisation with Google Benchmark.
void register_clahe();

/// Registers the operations on integral images with Google Benchmark.
void register_integral();

/// Registers the mosaic and the solid colour with Google Benchmark.
void register_mosaic();

/// Registers the remap with Google Benchmark.
void register_remap();

/// Registers the conversions of frames with Google Benchmark.
void register_repack();

/// Registers stereo matching with Google Benchmark.
void register_stereo();

}  // namespace cudavision::bench
