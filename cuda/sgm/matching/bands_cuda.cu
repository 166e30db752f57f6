// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <limits>

#include "cuda/sgm/matching/bands_cuda.h"
#include "cuda/sgm/matching/match8_cuda.h"
#include "cuda/sgm/paths16/aggregate_cuda.h"

namespace cudavision::sgm {
namespace {

double sums_budget(const StageConfig& config) {
  if (config.memory_budget > 1)
    return config.memory_budget;
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total), "asking for the free memory");
  return config.memory_budget * static_cast<double>(free);
}

/// Returns the rows of the fewest bands within the budget; for several bands, a multiple of unit.
template <class BytesOf>
int band_rows_within(double budget, const StageConfig& config, int unit, const BytesOf& bytes_of) {
  constexpr int fewest_rows = 16;
  const auto rows_of = [&](int bands) {
    const int rows = (config.height + bands - 1) / bands;
    return bands == 1 ? rows : (rows + unit - 1) / unit * unit;
  };
  std::size_t minimum = std::numeric_limits<std::size_t>::max();
  for (int bands = 1;; ++bands) {
    minimum = std::min(minimum, bytes_of(rows_of(bands)));
    if (static_cast<double>(minimum) <= budget)
      return rows_of(bands);
    if (rows_of(bands) <= std::max(fewest_rows, unit))
      throw Error(Error::Kind::out_of_memory,
                  "SgmStereo: the sums of path costs of " + std::to_string(config.width) + "×" +
                      std::to_string(config.height) + " pixels with " +
                      std::to_string(config.disparities) + " disparities take at least " +
                      std::to_string(minimum) + " bytes, but " + config.word("memory_budget") +
                      " is " + std::to_string(static_cast<std::uint64_t>(budget)) +
                      " bytes: raise it, or lower " + config.word("disparities"));
  }
}

}  // namespace

std::size_t sums16_bytes(const StageConfig& config, int rows) {
  return sizeof(std::uint16_t) * static_cast<std::size_t>(config.width) *
         static_cast<std::size_t>(config.disparities) * static_cast<std::size_t>(rows);
}

BandPlan bands_within_budget(const StageConfig& config) {
  const double budget = sums_budget(config);
  BandPlan bands{};
  bands.rows16 = band_rows_within(budget, config, AggregateCuda::row_unit(config), [&](int rows) {
    return sums16_bytes(config, rows) + AggregateCuda::extra_bytes(config, rows);
  });
  if (Match8Cuda::supports(config))
    bands.rows8 = band_rows_within(budget, config, MatchExtent::row_unit, [&](int rows) {
      return Match8Cuda::volume_bytes(config, rows) + Match8Cuda::state_bytes(config, rows);
    });
  return bands;
}

BandPlan bands_of(const StageConfig& config, int rows) {
  const int whole_units = (rows + MatchExtent::row_unit - 1) / MatchExtent::row_unit;
  return {Match8Cuda::supports(config) ? whole_units * MatchExtent::row_unit : 0, rows};
}

}  // namespace cudavision::sgm
