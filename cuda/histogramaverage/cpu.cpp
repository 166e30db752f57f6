// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backends. Threads average ranges of bins, each in all histograms, or update tables.

#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/histogramaverage/arithmetic.h"
#include "cuda/histogramaverage/backend.h"

namespace cudavision::histogramaverage {
namespace {

constexpr int range_bins = 256;

class HistogramAverageCpu final : public HistogramAverage::Backend {
 public:
  HistogramAverageCpu(Device& device, int max_histograms, int bits)
      : bins_(1 << bits),
        ranges_(bins_ / range_bins),
        sums_(static_cast<std::size_t>(ranges_.count())),
        states_(device.allocate(sizeof(std::uint64_t) * max_histograms << bits)),
        averages_(device.allocate(sizeof(std::uint32_t) * max_histograms << bits)) {}

  View<const std::uint32_t> run(View<const std::uint32_t> counts, const Parameters& parameters,
                                bool begins, const std::uint32_t* area_change) override {
    status_.is_cut =
        !begins && is_scene_cut(scene_sums(counts), parameters.cut_threshold, area_change);
    status_.restarted = begins || status_.is_cut;
    status_.cuts += status_.is_cut;
    ranges_.for_each([&](const Band& range) {
      for (int i = 0; i < counts.height; ++i)
        for (int bin = range.begin * range_bins; bin < range.end * range_bins; ++bin) {
          std::uint64_t& state = states(i)[bin];
          const std::uint32_t count = counts.row(i)[bin];
          state =
              status_.restarted ? first_state(count) : next_state(state, count, parameters.weight);
          averages(i)[bin] = rounded_average(state);
        }
    });
    return contiguous_rows(averages(0), bins_, counts.height);
  }

  const Status* status() const noexcept override { return &status_; }

 private:
  SceneSums scene_sums(View<const std::uint32_t> counts) {
    ranges_.for_each([&](const Band& range) {
      SceneSums sums{};
      for (int bin = range.begin * range_bins; bin < range.end * range_bins; ++bin) {
        std::uint64_t count = 0, average = 0;
        for (int i = 0; i < counts.height; ++i) {
          count += counts.row(i)[bin];
          average += rounded_average(states(i)[bin]);
        }
        add_bin(sums, count, average);
      }
      sums_[static_cast<std::size_t>(range.number)] = sums;
    });
    SceneSums all{};
    for (const SceneSums& sums : sums_) {
      all.difference += sums.difference;
      all.counts += sums.counts;
    }
    return all;
  }

  std::uint64_t* states(int histogram) const {
    return states_.as<std::uint64_t>() + static_cast<std::ptrdiff_t>(bins_) * histogram;
  }
  std::uint32_t* averages(int histogram) const {
    return averages_.as<std::uint32_t>() + static_cast<std::ptrdiff_t>(bins_) * histogram;
  }

  int bins_;
  Bands ranges_;
  std::vector<SceneSums> sums_;  // one per band
  Buffer states_;
  Buffer averages_;
  Status status_{};
};

class TableHysteresisCpu final : public TableHysteresis::Backend {
 public:
  TableHysteresisCpu(Device& device, int max_tables, int bits)
      : play_(play_of(bits)),
        in_use_(device.allocate(sizeof(std::uint16_t) * max_tables << bits)) {}

  View<const std::uint16_t> run(View<const std::uint16_t> made, const Status* status) override {
    const auto tables = contiguous_rows(in_use_.as<std::uint16_t>(), made.width, made.height);
    for_rows(made.height, [&](int i) {
      if (status->restarted)
        std::copy(made.row(i), made.row(i) + made.width, tables.row(i));
      else
        for (int j = 0; j < made.width; ++j)
          tables.row(i)[j] =
              static_cast<std::uint16_t>(followed(tables.row(i)[j], made.row(i)[j], play_));
    });
    return tables;
  }

 private:
  int play_;
  Buffer in_use_;
};

}  // namespace

std::unique_ptr<HistogramAverage::Backend> make_histogram_average_cpu(Device& device,
                                                                      int max_histograms,
                                                                      int bits) {
  return std::make_unique<HistogramAverageCpu>(device, max_histograms, bits);
}

std::unique_ptr<TableHysteresis::Backend> make_table_hysteresis_cpu(Device& device, int max_tables,
                                                                    int bits) {
  return std::make_unique<TableHysteresisCpu>(device, max_tables, bits);
}

}  // namespace cudavision::histogramaverage
