// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace cudavision::test {

/// The settings of the kernel tests, from environment variables. Any other value than a number or a
/// known word ends the program with a message.
///
///   CUDAVISION_TEST_CASES       number of random cases (default 200, at least one of each layout)
///   CUDAVISION_TEST_CASE        run this one random case only
///   CUDAVISION_TEST_SEED        of the random cases (default 20261120)
///   CUDAVISION_TEST_MAX_PIXELS  of a frame (default 1048576 for random cases, no limit for the
///                               others); tests with larger frames are then skipped
///   CUDAVISION_TEST_BACKEND     cuda: tests on CUDA that cannot run fail instead of being skipped;
///                               cpu: they are skipped even if they could run
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
