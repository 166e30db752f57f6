// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Writes the hash of what a fixed list of cases of each operation gives on one device, as JSON. The
// list of a GPU host, kept with the sources, is compared with that of any other machine's CPU by
// check_proof.py.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "tests/kernels/common/cuda_testing.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/histequalize/histequalize_case.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"
#include "tests/kernels/sgm/sgm_case.h"
#include "tests/kernels/sgm/sgm_stage_case.h"

namespace cudavision::test {
namespace {

constexpr std::uint64_t proof_seed = 1;
constexpr int proof_max_pixels = 1 << 21;

/// make: makes a case of an operation.
template <auto make>
std::string case_hash(Device& device, int number) {
  const auto test = make(proof_seed, number, proof_max_pixels);
  Runner<std::decay_t<decltype(test)>> runner(device, test);
  return hash(test, runner.run(input_block(test), 0xcd));
}

std::string sgm_stages_hash(Device& device, int number) {
  return hash(run_stages(device, make_sgm_stage_case(proof_seed, number, proof_max_pixels), 0xcd));
}

/// The cases of one operation are named after it.
struct Suite {
  const char* name;
  int cases;
  std::string (*hash)(Device& device, int number);
};

constexpr Suite suites[] = {
    {"gaussblur", 400, case_hash<make_gaussblur_case>},
    {"histequalize", 400, case_hash<make_histequalize_case>},
    {"integral", 200, case_hash<make_integral_case>},
    {"localstatistics", 200, case_hash<make_localstatistics_case>},
    {"nlmeans", 150, case_hash<make_nlmeans_case>},
    {"sgm", 150, case_hash<make_sgm_case>},
    {"sgmstages", 150, sgm_stages_hash},
};

struct Options {
  DeviceKind backend = DeviceKind::cpu;
  std::string out;  ///< empty: standard output
};

[[noreturn]] void usage(const std::string& complaint) {
  throw std::invalid_argument(complaint + "\nusage: proof_hashes --backend cpu|cuda [--out FILE]");
}

Options parse(int argc, char** argv) {
  Options options;
  bool backend = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option != "--backend" && option != "--out")
      usage("proof_hashes: unknown option " + option);
    if (++i == argc)
      usage("proof_hashes: " + option + " needs a value");
    const std::string value = argv[i];
    if (option == "--out") {
      options.out = value;
      continue;
    }
    if (value != "cpu" && value != "cuda")
      usage("proof_hashes: the backend is cpu or cuda, not " + value);
    options.backend = value == "cuda" ? DeviceKind::cuda : DeviceKind::cpu;
    backend = true;
  }
  if (!backend)
    usage("proof_hashes: which backend?");
  return options;
}

void write(std::ostream& stream, Device& device, const std::string& backend,
           const std::string& card) {
  stream << "{\n  \"backend\": \"" << backend << "\",\n  \"card\": \"" << card
         << "\",\n  \"cases\": {";
  const char* separator = "\n";
  for (const Suite& suite : suites)
    for (int number = 0; number < suite.cases; ++number) {
      char name[32];
      std::snprintf(name, sizeof name, "%s/%04d", suite.name, number);
      stream << separator << "    \"" << name << "\": \"" << suite.hash(device, number) << "\"";
      separator = ",\n";
    }
  stream << "\n  }\n}\n";
}

void run(const Options& options) {
  std::ofstream file;
  if (!options.out.empty()) {
    file.open(options.out);
    if (!file)
      throw std::runtime_error("proof_hashes: cannot write " + options.out);
  }
  std::ostream& stream = options.out.empty() ? std::cout : file;
  if (options.backend == DeviceKind::cpu) {
    write(stream, *make_cpu_device(), "cpu", "none");
  } else {
    if (!cuda_unusable().empty())
      throw std::runtime_error("proof_hashes: " + cuda_unusable());
    CudaTestDevice device;
    write(stream, *device, "cuda", cuda_card());
  }
  stream.flush();
  if (!stream)
    throw std::runtime_error("proof_hashes: writing failed");
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
