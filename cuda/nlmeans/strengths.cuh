// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The kernel that chooses the tables of weights by the noise. It copies each kind's table to where
// the next launches read it, and selects the launch that has room for it; the others exit.

#include <cuda_runtime.h>

#include "cuda/core/cuda_launch.h"
#include "cuda/nlmeans/backend.h"

namespace cudavision::nlmeans {

constexpr int choice_threads = 256, choice_blocks = 32;

struct TableChoice {
  NoisyChannels channels;
  std::uint32_t offsets[strength_steps + 1];    ///< of the tables of all steps, in words
  std::uint32_t lengths[strength_class_count];  ///< to which the chosen table is filled with 0
  const std::uint32_t* tables;
  std::uint32_t* table;  ///< the chosen one
  int* chosen;           ///< number of its class
};

struct TableChoices {
  const noise::State* noise;
  StrengthSteps steps{Parameters().search, Parameters().frames};
  TableChoice choices[kind_count];
  int count;
};

/// choice_blocks blocks copy each table.
__global__ void __launch_bounds__(choice_threads)
    choose_tables(const __grid_constant__ TableChoices a) {
  grid_dependency_wait();
  const TableChoice& choice = a.choices[blockIdx.x / choice_blocks];
  const std::uint32_t variance = choice.channels.variance(a.noise);
  int step = 0;
  for (int i = 1; i < strength_steps; ++i)
    step += a.steps.from[i] <= variance ? 1 : 0;
  int number = 0;
  for (int i = 1; i < strength_class_count; ++i)
    number += first_step_of_class(i) <= step ? 1 : 0;
  const std::uint32_t offset = choice.offsets[step], count = choice.offsets[step + 1] - offset;
  const std::uint32_t first = blockIdx.x % choice_blocks * choice_threads + threadIdx.x;
  for (std::uint32_t i = first; i < choice.lengths[number]; i += choice_blocks * choice_threads)
    choice.table[i] = i < count ? choice.tables[offset + i] : 0;
  if (first == 0)
    *choice.chosen = number;
  launch_dependents();
}

}  // namespace cudavision::nlmeans
