// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudavision::test {

/// The settings of the kernel tests, read from environment variables. An invalid value ends the
/// program with a message.
///
///   CUDAVISION_TEST_CASES       the number of random cases (default 200, at least one per layout)
///   CUDAVISION_TEST_CASE        the only random case to run
///   CUDAVISION_TEST_SEED        the seed of the random cases (default 20261120)
///   CUDAVISION_TEST_MAX_PIXELS  the largest frame in pixels (default 1048576 for random cases, no
///                               limit for others); tests with larger frames are skipped
///   CUDAVISION_TEST_BACKEND     cuda: CUDA tests fail, instead of being skipped, without CUDA;
///                               cpu: CUDA tests are skipped even if they could run
struct Settings {
  int cases = 200;
  int only_case = -1;
  std::uint64_t seed = 20261120;
  int max_pixels = 1 << 20;
  bool small = false;  ///< CUDAVISION_TEST_MAX_PIXELS is set
  enum class Backend { any, cpu, cuda } backend = Backend::any;
};

const Settings& settings();

}  // namespace cudavision::test
