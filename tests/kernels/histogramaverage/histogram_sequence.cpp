// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/histogramaverage/histogram_sequence.h"

#include <algorithm>
#include <memory>

#include "tests/kernels/common/allocations/watched_device.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

namespace cudavision::test {
namespace {

using Step = HistogramSequence::Step;
using histogramaverage::Status;

std::vector<std::uint32_t> random_counts(std::size_t size, Random& random) {
  const bool few = random.one_in(2);
  const int largest = random.one_in(8) ? -1 : random.log_uniform(1 << 24);
  std::vector<std::uint32_t> counts(size);
  for (std::uint32_t& count : counts)
    if (!few || random.one_in(9))
      count = largest < 0 ? static_cast<std::uint32_t>(random.next())
                          : static_cast<std::uint32_t>(random.between(0, largest));
  return counts;
}

void move_counts(std::vector<std::uint32_t>& counts, Random& random) {
  const int share = random.log_uniform(100);
  for (std::size_t i = 1; i < counts.size(); ++i)
    if (random.one_in(share)) {
      const std::uint32_t moved = counts[i] / static_cast<std::uint32_t>(random.between(1, 9));
      if (counts[i - 1] < ~moved) {
        counts[i] -= moved;
        counts[i - 1] += moved;
      }
    }
}

std::vector<std::uint16_t> random_tables(std::size_t rows, std::size_t size, Random& random) {
  const int steepest = random.log_uniform(4);
  std::vector<std::uint16_t> tables;
  for (std::size_t row = 0; row < rows; ++row) {
    int entry = random.between(0, static_cast<int>(size / 16));
    for (std::size_t i = 0; i < size; ++i) {
      tables.push_back(static_cast<std::uint16_t>(entry));
      entry = std::min(entry + random.between(0, steepest), static_cast<int>(size) - 1);
    }
  }
  return tables;
}

/// Shifts tables, so that changes of levels are often near the limit of hysteresis.
void move_tables(std::vector<std::uint16_t>& tables, std::size_t size, Random& random) {
  for (std::size_t start = 0; start < tables.size(); start += size) {
    const auto by = static_cast<std::size_t>(
        random.between(0, static_cast<int>(size / 256) * random.log_uniform(16)));
    const auto begin = tables.begin() + static_cast<std::ptrdiff_t>(start);
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    if (random.one_in(2))
      std::fill(std::copy(begin + static_cast<std::ptrdiff_t>(by), end, begin), end, *(end - 1));
    else
      std::fill(begin, std::copy_backward(begin, end - by, end), *begin);
  }
}

histogramaverage::Parameters random_parameters(Random& random) {
  constexpr int extremes[] = {0, 1, 65535, 65536};
  histogramaverage::Parameters parameters;
  parameters.weight = random.one_in(4) ? extremes[random.between(0, 3)] : random.log_uniform(65536);
  parameters.cut_threshold =
      random.one_in(4) ? extremes[random.between(0, 3)] : random.between(0, 65536);
  return parameters;
}

template <class Element>
std::vector<Element> padded(const std::vector<Element>& rows, int count, int padding) {
  const std::size_t width = rows.size() / static_cast<std::size_t>(count);
  std::vector<Element> block;
  for (std::size_t start = 0; start < rows.size(); start += width) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(start);
    block.insert(block.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    block.insert(block.end(), static_cast<std::size_t>(padding), Element{77});
  }
  return block;
}

template <class Element>
View<const Element> view_of(const DeviceBlock<Element>& block, int width, int rows, int padding) {
  return {block.data(), width, rows,
          static_cast<std::ptrdiff_t>(sizeof(Element)) * (width + padding)};
}

class Frame {
 public:
  Frame(Device& device, int bits, const Step& step)
      : device_(device),
        bins_(1 << bits),
        rows_(step.rows),
        padding_(step.padding),
        counts_(device, padded(step.counts, step.rows, step.padding)),
        tables_(device, padded(step.tables, step.rows, 4 * step.padding)),
        averages_(device, std::vector<std::uint32_t>(step.counts.size(), 77)),
        in_use_(device, std::vector<std::uint16_t>(step.tables.size(), 77)),
        area_change_(device,
                     std::vector<std::uint32_t>(1, static_cast<std::uint32_t>(step.area_change))),
        knows_areas_(step.area_change > 0 || step.padding == 0),
        status_(device, std::vector<Status>(1)) {}

  View<const std::uint32_t> counts() const { return view_of(counts_, bins_, rows_, padding_); }
  View<const std::uint16_t> tables() const { return view_of(tables_, bins_, rows_, 4 * padding_); }

  /// Returns the argument area_change of run(): nullptr in some steps without a change.
  const std::uint32_t* area_change() const { return knows_areas_ ? area_change_.data() : nullptr; }

  void keep(View<const std::uint32_t> averages, View<const std::uint16_t> in_use,
            const Status* status) const {
    copy(averages.data, averages_.data(), sizeof(std::uint32_t) * bins_ * rows_);
    copy(in_use.data, in_use_.data(), sizeof(std::uint16_t) * bins_ * rows_);
    copy(status, status_.data(), sizeof(Status));
  }

  HistogramOutput output() const {
    return {averages_.values(), in_use_.values(), status_.values()[0]};
  }

 private:
  void copy(const void* from, void* to, std::size_t size) const {
    device_.copy(bytes_of(const_cast<void*>(from), size), bytes_of(to, size));
  }

  Device& device_;
  int bins_, rows_, padding_;
  DeviceBlock<std::uint32_t> counts_;
  DeviceBlock<std::uint16_t> tables_;
  DeviceBlock<std::uint32_t> averages_;
  DeviceBlock<std::uint16_t> in_use_;
  DeviceBlock<std::uint32_t> area_change_;
  bool knows_areas_;
  DeviceBlock<Status> status_;
};

template <class Element>
std::string difference(const char* what, const std::vector<Element>& expected,
                       const std::vector<Element>& actual, std::size_t bins) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end())
    return {};
  const auto at = static_cast<std::size_t>(e - expected.begin());
  return std::string(what) + " " + std::to_string(at / bins) + ", bin " +
         std::to_string(at % bins) + ", must be " + std::to_string(*e) + " and is " +
         std::to_string(*a);
}

}  // namespace

HistogramSequence make_histogram_sequence(std::uint64_t seed, int number, int max_bins) {
  Random random = random_of_case(seed, number), areas = random_of_case(seed ^ 0xa5ea5, number);
  HistogramSequence sequence;
  sequence.bits = 8 + number % 9;
  const std::size_t bins = std::size_t{1} << sequence.bits;
  sequence.max_rows = random.log_uniform(std::max(1, max_bins / static_cast<int>(bins)));
  const int frames = random.between(1, 8);
  Step step{};
  for (int i = 0; i < frames; ++i) {
    step.restart = random.one_in(8);
    if (i == 0 || random.one_in(6)) {
      step.rows = random.between(1, sequence.max_rows);
      step.counts = random_counts(bins * static_cast<std::size_t>(step.rows), random);
      step.tables = random_tables(static_cast<std::size_t>(step.rows), bins, random);
    } else if (!random.one_in(8)) {
      move_counts(step.counts, random);
      move_tables(step.tables, bins, random);
    }
    step.padding = random.one_in(2) ? 0 : random.between(1, 9);
    step.parameters = random_parameters(random);
    step.area_change = areas.one_in(8) ? areas.between(0, 65536) : 0;
    sequence.steps.push_back(step);
  }
  return sequence;
}

std::string describe(const HistogramSequence& sequence) {
  std::string text = std::to_string(sequence.bits) + " bits, at most " +
                     std::to_string(sequence.max_rows) + " histograms";
  for (const Step& step : sequence.steps)
    text += "\n  frame: " + std::to_string(step.rows) + " histograms, weight " +
            std::to_string(step.parameters.weight) + ", threshold " +
            std::to_string(step.parameters.cut_threshold) + ", areas " +
            std::to_string(step.area_change) + (step.restart ? ", restart" : "");
  return text;
}

HistogramOutputs defined_outputs(const HistogramSequence& sequence) {
  HistogramOutputs outputs;
  DefinedAverage average;
  DefinedHysteresis hysteresis;
  for (const Step& step : sequence.steps) {
    if (step.restart)
      average.restart();
    const auto averages = average.add(step.counts, step.rows, step.parameters, step.area_change);
    outputs.push_back(
        {averages, hysteresis.follow(step.tables, step.rows, average.status()), average.status()});
  }
  return outputs;
}

HistogramOutputs run_sequence(Device& device, const HistogramSequence& sequence) {
  histogramaverage::HistogramAverage average(device, sequence.max_rows, sequence.bits);
  histogramaverage::TableHysteresis hysteresis(device, sequence.max_rows, sequence.bits);
  std::vector<std::unique_ptr<Frame>> frames;
  for (const Step& step : sequence.steps)
    frames.push_back(std::make_unique<Frame>(device, sequence.bits, step));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (sequence.steps[i].restart)
      average.restart();
    const auto averages =
        average.run(frames[i]->counts(), sequence.steps[i].parameters, frames[i]->area_change());
    const auto in_use = hysteresis.run(frames[i]->tables(), average.status());
    frames[i]->keep(averages, in_use, average.status());
  }
  device.finish();
  HistogramOutputs outputs;
  for (const auto& frame : frames)
    outputs.push_back(frame->output());
  return outputs;
}

std::string difference(const HistogramSequence& sequence, const HistogramOutputs& expected,
                       const HistogramOutputs& actual) {
  const std::size_t bins = std::size_t{1} << sequence.bits;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::string wrong = difference("average", expected[i].averages, actual[i].averages, bins);
    if (wrong.empty())
      wrong = difference("table", expected[i].tables, actual[i].tables, bins);
    if (wrong.empty())
      wrong = difference(expected[i].status, actual[i].status);
    if (!wrong.empty())
      return "frame " + std::to_string(i) + ": " + wrong;
  }
  return {};
}

std::string hash(const HistogramOutputs& outputs) {
  Hash hash;
  for (const HistogramOutput& output : outputs) {
    add_status(hash, output.status);
    for (const std::uint32_t average : output.averages)
      hash.add_number(average);
    for (const std::uint16_t entry : output.tables)
      hash.add_number(entry);
  }
  return hash.text();
}

}  // namespace cudavision::test
