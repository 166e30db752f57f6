// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests SgmStereo with too little memory and a small budget. Detects reads of unwritten memory.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "cuda/sgm/backend.h"
#include "tests/kernels/contract/contract.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using namespace sgm;

using Parameters = sgm::Parameters;
using Census = Parameters::Census;
using Compatibility = Parameters::Compatibility;

SgmCase dense(int width, int height, const Parameters& parameters) {
  return plain_sgm_case(layout_named("GRAY8", width, height), parameters, Content::natural, 5);
}

CUDAVISION_ON_BOTH_DEVICES(SgmMemory);

/// Limits the process to 1 TiB of additional address space, because some hosts grant any size.
class AddressLimit {
 public:
  AddressLimit() {
    getrlimit(RLIMIT_AS, &before_);
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = std::min<rlim_t>(before_.rlim_max,
                                    pages * sysconf(_SC_PAGESIZE) + (std::uint64_t{1} << 40));
    setrlimit(RLIMIT_AS, &now);
  }
  ~AddressLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_P(SgmMemory, TooLittleMemoryIsSaidInBytes) {
  const AddressLimit limit;
  sgm::Parameters parameters;
  parameters.disparities = 1024;
  CUDAVISION_EXPECT_ERROR(
      SgmStereo(device, gray_layout(65535, 65535), gray_layout(65535, 65535), parameters),
      out_of_memory, " bytes");
}

/// A small budget makes CUDA match in bands of rows. The CPU ignores the budget.
TEST_P(SgmMemory, BandsGiveTheSameBits) {
  const std::function<void(Parameters&)> changes[] = {
      [](Parameters& p) { p.disparities = 64; },
      [](Parameters& p) { p.disparities = 96, p.paths = 8; },
      [](Parameters& p) { p.disparities = 256, p.paths = 8, p.minimum = -20; },
      [](Parameters& p) { p.disparities = 128, p.p1 = 60, p.p2 = 120; },
      [](Parameters& p) { p.census = Census::neighbours_9x7, p.disparities = 96, p.paths = 8; },
      [](Parameters& p) { p.disparities = 512; },
      [](Parameters& p) { p.compatibility = Compatibility::libsgm, p.disparities = 64; },
  };
  for (const auto& change : changes)
    for (const double share : {0.7, 0.35}) {
      Parameters parameters;
      change(parameters);
      SgmCase test = dense(150, 193, parameters);
      const sgm::StageConfig config(test.layout, test.parameters);
      test.parameters.memory_budget = share * config.paths / 2 * static_cast<double>(config.sums());
      SCOPED_TRACE(describe(test));
      Running<SgmCase> running(device, device, test);
      running.run();
      device.finish();
      EXPECT_EQ(running.wrong(), "");
    }
}

TEST_P(SgmMemory, RefusesABudgetThatIsTooSmallWithTheBytes) {
  if (device.kind() == DeviceKind::cpu)
    return;  // the CPU has no budget
  for (const int disparities : {64, 512}) {
    SgmCase test = dense(150, 193, few_disparities());
    test.parameters.disparities = disparities;
    test.parameters.memory_budget = 5000;
    try {
      sgm::SgmStereo(device, test.layout, test.layout, test.parameters);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::out_of_memory);
      for (const char* words : {"150×193", "bytes", "memory_budget allows 5000 bytes"})
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
}

/// The output does not depend on the initial contents of allocated memory.
TEST_P(SgmMemory, MemoryIsNotReadBeforeItIsWritten) {
  std::vector<Parameters> all = representative_sgm_parameters();
  all.push_back(few_disparities());
  all.back().paths = 8;
  all.back().memory_budget = 1e6;  // makes CUDA match in bands
  all.push_back(few_disparities());
  all.back().temporal_alpha = 0.5;
  all.back().temporal_persistence = 3;
  for (const Parameters& parameters : all)
    for (const std::uint8_t filling : {0x00, 0x7f, 0xff}) {
      const SgmCase test = dense(133, 41, parameters);
      SCOPED_TRACE(describe(test));
      WatchedDevice device(this->device, filling);
      Running<SgmCase> running(device, this->device, test);
      running.run();
      device.finish();
      EXPECT_EQ(running.wrong(), "");
    }
}

/// A run with the longest list of stages after the matching allocates nothing.
TEST(SgmMemory, LongestListOfStagesAllocatesNothing) {
  const auto device = make_cpu_device();
  const Parameters few = few_disparities();
  const SgmFrames frames(*device, plain_sgm_case(gray_layout(80, 30), few, Content::random, 1));
  const DeviceBlock<std::uint8_t> unfilled(*device, std::vector<std::uint8_t>(2 * 80 * 30));
  const DeviceBlock<std::uint32_t> words(*device, std::vector<std::uint32_t>(3 * 30));
  const View<const std::uint32_t> mask{words.data(), 3, 30, 12};
  SgmStereo stereo(*device, gray_layout(80, 30), gray_layout(80, 30), few);
  for (int i = 0; i < 10; ++i)  // enough runs to start all threads of the pool
    frames.run(stereo);
  const int news_before = new_calls();
  Parameters all = few;
  all.speckle_size = 20;
  all.confidence_threshold = 20;
  all.fill_holes = true;
  all.temporal_persistence = 4;
  stereo.set_parameters(all);
  stereo.set_masks(mask, mask);
  stereo.run(frames.left, frames.right, frames.disparity, {}, {unfilled.data(), 160, 30, 160});
  EXPECT_EQ(new_calls(), news_before);
}

}  // namespace
}  // namespace cudavision::test
