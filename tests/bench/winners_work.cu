// SPDX-License-Identifier: LGPL-2.1-or-later
#include <memory>
#include <random>
#include <vector>

#include "cuda/sgm/matching/match8_cuda.h"
#include "tests/bench/winners_work.h"

namespace cudavision::bench {
namespace {

struct State {
  Buffer memory;
  sgm::LaunchQueue queue;
  sgm::Select8Cuda winners;
  sgm::SumVolumes sums{};

  State(Device& device, const sgm::StageConfig& config)
      : memory(device.allocate(sgm::Match8Cuda::volume_bytes(config, config.height))),
        queue(device.stream()),
        winners(queue, config) {
    const sgm::MatchExtent extent(config);
    const int row_bytes = extent.sum_pitch() * extent.disparities;
    std::mt19937 random;
    std::vector<std::uint8_t> row(static_cast<std::size_t>(row_bytes));
    for (std::uint8_t& sum : row)
      sum = static_cast<std::uint8_t>(random() >> 24);
    for (std::size_t start = 0; start + row.size() <= memory.size(); start += row.size())
      device.upload({row.data(), row_bytes, 1, row_bytes},
                    {memory.as<std::uint8_t>() + start, row_bytes, 1, row_bytes});
    device.finish();
    const std::size_t volume = memory.size() / static_cast<std::size_t>(config.paths == 4 ? 2 : 4);
    std::uint8_t* const first =
        memory.as<std::uint8_t>() + sgm::SumVolumes::margin * extent.disparities;
    sums = {first, first + volume, {}, extent.sum_pitch()};
    if (config.paths == 8)
      sums.diagonals[0] = first + 2 * volume, sums.diagonals[1] = first + 3 * volume;
  }
};

}  // namespace

WinnersWork make_winners_work(Device& device, const sgm::StageConfig& config, float uniqueness,
                              sgm::Subpixel subpixel, const sgm::WtaResult& winners) {
  const auto state = std::make_shared<State>(device, config);
  return {[=] { state->winners.run(state->sums, config.height, uniqueness, subpixel, winners); },
          state->memory.size()};
}

}  // namespace cudavision::bench
