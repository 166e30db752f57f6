// SPDX-License-Identifier: LGPL-2.1-or-later
// Prints, as JSON, the hashes of one device's results for seeded cases of most operations.
// tests/gpu/check_proof.py compares them with the hashes of a GPU host.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/kernels/chroma/chroma_case.h"
#include "tests/kernels/clahe/clahe_case.h"
#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/guided/guided_case.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/histogramaverage/histogram_sequence.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/mosaic/mosaic_case.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/regions/masks_case.h"
#include "tests/kernels/regions/regions_case.h"
#include "tests/kernels/remap/pictureremap_case.h"
#include "tests/kernels/remap/remap_case.h"
#include "tests/kernels/repack/repack_case.h"
#include "tests/kernels/sgm/distances/distances_case.h"
#include "tests/kernels/sgm/sgm_case.h"
#include "tests/kernels/sgm/stages/sgm_stage_case.h"
#include "tests/kernels/sgm/temporal/sgm_sequence.h"
#include "tests/kernels/speckles/speckles_case.h"

namespace cudavision::test {
namespace {

constexpr std::uint64_t proof_seed = 1;
constexpr int proof_max_pixels = 1 << 21;

template <auto make>
std::string case_hash(Device& device, int number) {
  const auto test = make(proof_seed, number, proof_max_pixels);
  Runner<std::decay_t<decltype(test)>> runner(device, test);
  return hash(test, runner.run(input_block(test), 0xcd));
}

std::string mask_distances_hash(Device& device, int number) {
  const auto distances =
      distances_of(device, make_masks_case(proof_seed, number, proof_max_pixels));
  Hash hash;
  hash.add(distances.data(), distances.size());
  return hash.text();
}

template <auto run>
std::string stages_hash(Device& device, int number) {
  return hash(run(device, make_sgm_stage_case(proof_seed, number, proof_max_pixels), 0xcd));
}

template <auto make>
std::string sequence_hash(Device& device, int number) {
  const auto sequence = make(proof_seed, number, proof_max_pixels);
  return hash(sequence, run_sequence(device, sequence, 0xcd));
}

std::string histogram_average_hash(Device& device, int number) {
  return hash(run_sequence(device, make_histogram_sequence(proof_seed, number, 1 << 18)));
}

template <auto make>
std::string box_distances_hash(Device& device, int number) {
  return distances_hash(computed_disparities(device, make(proof_seed, number, proof_max_pixels)));
}

struct Suite {
  const char* operation;
  const char* prefix;  ///< prefix of the case names, followed by the case number
  int cases;
  std::string (*hash)(Device& device, int number);
};

constexpr Suite suites[] = {
    {"chroma", "", 150, case_hash<make_chroma_case>},
    {"clahe", "", 200, case_hash<make_clahe_case>},
    {"clahe", "smoothed-", 150, sequence_hash<make_smoothed_clahe_sequence>},
    {"gaussblur", "", 400, case_hash<make_gaussblur_case>},
    {"guided", "", 200, case_hash<make_guided_case>},
    {"histequalize", "", 400, case_hash<make_histequalize_case>},
    {"histequalize", "smoothed-", 200, sequence_hash<make_smoothed_sequence>},
    {"histogramaverage", "", 150, histogram_average_hash},
    {"integral", "", 200, case_hash<make_integral_case>},
    {"localstatistics", "", 200, case_hash<make_localstatistics_case>},
    {"localstatistics", "limited-", 150, case_hash<make_limited_localstatistics_case>},
    {"mosaic", "", 200, case_hash<make_mosaic_case>},
    {"nlmeans", "", 150, case_hash<make_nlmeans_case>},
    {"nlmeans", "frames-", 150, case_hash<make_nlmeans_frames_case>},
    {"regions", "", 200, case_hash<make_region_blend_case>},
    {"regions", "distances-", 150, mask_distances_hash},
    {"regions", "masked-", 150, case_hash<make_masked_region_case>},
    {"regions", "turned-", 150, case_hash<make_rotated_region_case>},
    {"remap", "", 200, case_hash<make_remap_case>},
    {"remap", "pictures-", 150, case_hash<make_picture_remap_case>},
    {"repack", "", 200, case_hash<make_repack_case>},
    {"sgm", "", 150, case_hash<make_sgm_case>},
    {"sgm", "stages-", 150, stages_hash<run_stages>},
    {"sgm", "sequences-", 100, sequence_hash<make_sgm_sequence>},
    {"sgm", "slanted-", 150, case_hash<make_slanted_sgm_case>},
    {"sgm", "slanted-stages-", 150, stages_hash<run_slanted_stages>},
    {"sgm", "noisy-", 150, case_hash<make_noisy_sgm_case>},
    {"sgm", "noise-stages-", 150, stages_hash<run_noise_stages>},
    {"sgm", "noisy-sequences-", 100, sequence_hash<make_noisy_sgm_sequence>},
    {"sgm", "distances-", 150, box_distances_hash<make_distances_case>},
    {"sgm", "masked-distances-", 150, box_distances_hash<make_masked_distances_case>},
    {"sgm", "slanted-sequences-", 100, sequence_hash<make_slanted_sgm_sequence>},
    {"speckles", "", 200, case_hash<make_speckles_case>},
};

struct Options {
  DeviceKind backend = DeviceKind::cpu;
  std::vector<std::string> operations;  ///< all if empty
};

[[noreturn]] void usage(const std::string& complaint) {
  throw std::invalid_argument("proof_hashes: " + complaint +
                              "\nusage: proof_hashes --backend=cpu|cuda [--operation=NAME]...");
}

Options parse(int argc, char** argv) {
  Options options;
  bool backend = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string option = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (option == "--operation" && !value.empty()) {
      options.operations.push_back(value);
    } else if (argument == "--backend=cpu" || argument == "--backend=cuda") {
      options.backend = value == "cuda" ? DeviceKind::cuda : DeviceKind::cpu;
      backend = true;
    } else {
      usage("unknown argument " + argument);
    }
  }
  if (!backend)
    usage("--backend=cpu or --backend=cuda is missing");
  return options;
}

void write(Device& device, const std::string& card, const std::vector<std::string>& operations) {
  std::cout << "{\n  \"card\": \"" << card << "\",\n  \"cases\": {";
  const char* separator = "\n";
  for (const Suite& suite : suites) {
    if (!operations.empty() &&
        std::find(operations.begin(), operations.end(), suite.operation) == operations.end())
      continue;
    for (int number = 0; number < suite.cases; ++number) {
      char name[48];
      std::snprintf(name, sizeof name, "%s/%s%04d", suite.operation, suite.prefix, number);
      std::cout << separator << "    \"" << name << "\": \"" << suite.hash(device, number) << "\"";
      separator = ",\n";
    }
  }
  std::cout << "\n  }\n}\n";
}

void run(const Options& options) {
  if (options.backend == DeviceKind::cpu) {
    write(*make_cpu_device(), "none", options.operations);
  } else {
    if (!cuda_unusable().empty())
      throw std::runtime_error("proof_hashes: " + cuda_unusable());
    CudaTestDevice device;
    write(*device, cuda_card(), options.operations);
  }
  std::cout.flush();
  if (!std::cout)
    throw std::runtime_error("proof_hashes: cannot write the hashes to the standard output");
}

}  // namespace
}  // namespace cudavision::test

int main(int argc, char** argv) {
  try {
    cudavision::test::run(cudavision::test::parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
