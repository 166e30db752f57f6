// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace check {

/// The backend under test, from CUDAVISION_TEST_BACKEND; "cpu" by default.
std::string test_backend();
inline bool testing_cuda() {
  return test_backend() == "cuda";
}

bool built_with_cuda();

std::string unless_cuda_elements();

/// Counts the GPUs in a child process, because CUDA does not survive a fork.
int gpus_in_machine();
inline bool machine_has_gpu() {
  return gpus_in_machine() > 0;
}

/// Reasons for TEST(…, .unless(reason)). They are empty if the test can run.
std::string unless_testing_cuda();
std::string unless_testing_two_gpus();
std::string unless_without_gpu();
std::string unless_with_gpu();
std::string unless_sanitized();  ///< for tests of memory use; sanitizers keep freed memory
std::string unless_elements(const std::vector<const char*>& factories);

}  // namespace check
