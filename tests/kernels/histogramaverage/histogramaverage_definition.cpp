// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

#include <cstdlib>

namespace cudavision::test {
namespace {

__extension__ using Wide = __int128;

Wide floor_of_65536th(Wide number) {
  Wide quotient = number / 65536;
  if (number % 65536 < 0)
    --quotient;
  return quotient;
}

std::uint32_t rounded(std::uint64_t state) {
  return static_cast<std::uint32_t>(floor_of_65536th(Wide{state} + 32768));
}

std::string text(const histogramaverage::Status& status) {
  return std::to_string(status.restarted) + ", " + std::to_string(status.is_cut) + ", " +
         std::to_string(status.cuts);
}

}  // namespace

bool DefinedAverage::is_cut(const std::vector<std::uint32_t>& counts, int histograms,
                            int threshold) const {
  const std::size_t bins = counts.size() / static_cast<std::size_t>(histograms);
  Wide difference = 0, total = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    Wide now = 0, before = 0;
    for (std::size_t at = bin; at < counts.size(); at += bins) {
      now += counts[at];
      before += rounded(states_[at]);
    }
    difference += now > before ? now - before : before - now;
    total += now;
  }
  return threshold < 65536 && difference * 65536 > 2 * total * threshold;
}

std::vector<std::uint32_t> DefinedAverage::add(const std::vector<std::uint32_t>& counts,
                                               int histograms,
                                               const histogramaverage::Parameters& parameters,
                                               int area_change) {
  const bool begins = states_.size() != counts.size();
  const int threshold = parameters.cut_threshold;
  const bool cut = !begins && (is_cut(counts, histograms, threshold) ||
                               (area_change > threshold && threshold != 65536));
  status_.restarted = begins || cut ? 1 : 0;
  status_.is_cut = cut ? 1 : 0;
  status_.cuts += status_.is_cut;
  if (begins || cut)
    states_.assign(counts.size(), 0);
  std::vector<std::uint32_t> averages;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Wide now = Wide{counts[i]} * 65536;
    const Wide before = states_[i];
    const Wide after =
        begins || cut ? now : before + floor_of_65536th((now - before) * parameters.weight);
    states_[i] = static_cast<std::uint64_t>(after);
    averages.push_back(rounded(states_[i]));
  }
  return averages;
}

const std::vector<std::uint16_t>& DefinedHysteresis::follow(
    const std::vector<std::uint16_t>& made, int tables, const histogramaverage::Status& status) {
  if (status.restarted) {
    in_use_ = made;
    return in_use_;
  }
  const std::size_t size = made.size() / static_cast<std::size_t>(tables);
  const int play = 4 * static_cast<int>(size / 256);
  for (std::size_t i = 0; i < made.size(); ++i) {
    // An entry in use moves towards the new entry until they differ by at most `play`.
    while (std::abs(made[i] - in_use_[i]) > play)
      in_use_[i] = static_cast<std::uint16_t>(in_use_[i] + (made[i] > in_use_[i] ? 1 : -1));
  }
  return in_use_;
}

std::string difference(const histogramaverage::Status& expected,
                       const histogramaverage::Status& actual) {
  if (text(expected) == text(actual))
    return {};
  return "the status must be " + text(expected) + " and is " + text(actual);
}

void add_status(Hash& hash, const histogramaverage::Status& status) {
  for (const std::uint32_t number : {status.restarted, status.is_cut, status.cuts})
    hash.add_number(number);
}

}  // namespace cudavision::test
