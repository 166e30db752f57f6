// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Non-local means on CUDA: makes tables of weights from the parameters and launches the kernels.

#include <algorithm>

#include "cuda/core/layoutcheck.h"
#include "cuda/core/tableuploader.h"
#include "cuda/nlmeans/backend.h"
#include "cuda/nlmeans/kernelchoice.cuh"
#include "cuda/nlmeans/strengths.h"

namespace cudavision::nlmeans {
namespace {

constexpr int choice_threads = 256, choice_blocks = 32;

struct TableChoice {
  NoisyChannels channels;
  std::uint32_t offsets[strength_steps + 1];    ///< first word of the table of each step
  std::uint32_t lengths[strength_class_count];  ///< padded length of the tables of each class
  const std::uint32_t* tables;
  std::uint32_t* table;  ///< destination of the chosen table
  int* chosen;           ///< strength class of the chosen table
};

struct TableChoices {
  const noise::State* noise;
  StrengthSteps steps{Parameters().search, Parameters().frames};
  TableChoice choices[kind_count];
  int count;
};

/// Chooses the tables of weights by the noise. For each kind, choice_blocks blocks copy the chosen
/// table. Later, only the kind's launch for the strength class of this table has work.
__global__ void __launch_bounds__(choice_threads)
    choose_tables(const __grid_constant__ TableChoices a) {
  grid_dependency_wait();
  const TableChoice& choice = a.choices[blockIdx.x / choice_blocks];
  const std::uint32_t variance = choice.channels.variance(a.noise);
  const int step = a.steps.step_for(variance);
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

class NlMeansCuda final : public NlMeans::Backend {
 public:
  NlMeansCuda(Device& device, const FrameLayout& layout, int frame_count)
      : device_(device),
        layout_(layout),
        frame_(layout, own_chroma_strength),
        choice_(layout),
        uploader_(device, max_weights(frame_)),
        launcher_(device.stream(), padding_kernel(layout.sample_bytes())),
        choice_launcher_(device.stream(), choose_tables) {
    padded_frame_bytes_ = place_padded();
    padded_ = device.allocate(std::max<std::size_t>(1, frame_count * padded_frame_bytes_));
    for (const ChannelKind kind : kinds)
      if (frame_.noisy[kind].count > 0)
        chosen_tables_[kind] =
            device.allocate(sizeof(std::uint32_t) * max_weights_of_last_step(channels_of(kind)));
    chosen_ = device.allocate(sizeof(int) * kind_count);
  }

  void set(const Parameters& parameters) override {
    frame_ = DenoisedFrame(layout_, parameters);
    place_padded();
    std::uint32_t* const weights = uploader_.next();
    std::size_t used = 0;
    plan_count_ = choices_.count = 0;
    choices_.steps = StrengthSteps(parameters.search, parameters.frames);
    for (const ChannelKind kind : kinds) {
      if (frame_.noisy[kind].count == 0)
        continue;
      const double strength = strength_of(parameters, kind);
      if (strength == Parameters::automatic_strength) {
        make_plans(parameters, kind, weights, used);
        continue;
      }
      const int count =
          make_patch_weights(parameters, strength, layout_.bits, channels_of(kind), weights + used);
      weights[used + count] = 0;  // the kernels need an entry of 0
      const Plan& plan = add_plan(parameters, kind, uploader_.tables() + used, count);
      convert(plan, weights + used, count);
      used += static_cast<std::size_t>(count + 1);
    }
    if (used > 0)
      uploader_.upload(used);
  }

  void run(std::span<const ConstFrame> frames, const Frame& out, const regions::ActiveCells* active,
           const noise::State* noise) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      if (frame_.copies(p, active == nullptr))
        device_.copy(frames[0].planes[p], out.planes[p]);
    if (choices_.count > 0) {
      choices_.noise = noise;
      choice_launcher_(choose_tables, static_cast<unsigned>(choices_.count * choice_blocks),
                       choice_threads, 0, choices_);
    }
    for (int i = 0; i < plan_count_; ++i)
      launch(plans_[i], frames, out, active);
  }

 private:
  void launch(Plan& plan, std::span<const ConstFrame> frames, const Frame& out,
              const regions::ActiveCells* active) {
    NlMeansArguments& a = plan.arguments;
    a.everywhere = active == nullptr;
    if (plan.resident_blocks > 0)
      KernelChoice::share_strips(plan);
    if (active)
      a.active = *active;
    for (int i = 0; i < a.picture_count; ++i)
      set_planes(frame_.groups[plan.groups[i]], out, a.pictures[i]);
    for (std::size_t f = 0; f < frames.size(); ++f)
      for (int p = 0; p < layout_.plane_count; ++p)
        a.frames[f][p] = {frames[f].planes[p].data,
                          kernel_pitch("non-local means", frames[f].planes[p].pitch)};
    if (plan.padding_blocks > 0)
      launcher_(padding_kernel(layout_.sample_bytes()), plan.padding_blocks, generic_threads, 0, a);
    launcher_(plan.kernel, plan.blocks, plan.threads, plan.shared_bytes, a);
  }

  static std::size_t max_weights(const DenoisedFrame& frame) {
    std::size_t maximum = 1;
    for (const ChannelKind kind : kinds)
      if (frame.noisy[kind].count > 0)
        maximum +=
            std::max(max_patch_weights(channels_of(kind)), max_weights_of_steps(channels_of(kind)));
    return maximum;
  }

  std::size_t place_padded() {
    std::size_t bytes = 0;
    for (int g = 0; g < frame_.group_count; ++g) {
      const DenoisedChannels& group = frame_.groups[g];
      padded_at_[g] = bytes;
      bytes += round_up(static_cast<std::size_t>(group.count) * layout_.sample_bytes() *
                            (group.width() + 2 * std::size_t{max_halo}) *
                            (group.height() + 2 * std::size_t{max_halo}),
                        256);
    }
    return bytes;
  }

  /// Adds the plans for an automatic strength. Writes the tables of all steps to `weights` from
  /// word `used` on. choose_tables() pads the chosen table with zeros to the length for its class.
  void make_plans(const Parameters& parameters, ChannelKind kind, std::uint32_t* weights,
                  std::size_t& used) {
    TableChoice& choice = choices_.choices[choices_.count++];
    choice.channels = frame_.noisy[kind];
    choice.tables = uploader_.tables();
    choice.table = chosen_tables_[kind].as<std::uint32_t>();
    choice.chosen = chosen_.as<int>() + kind;
    for (int number = 0; number < strength_class_count; ++number) {
      const std::size_t first = used;
      int count = 0;
      for (int step = first_step_of_class(number); step < first_step_of_class(number + 1); ++step) {
        choice.offsets[step] = static_cast<std::uint32_t>(used);
        count = make_patch_weights(parameters, strength_of_step(step), layout_.bits,
                                   channels_of(kind), weights + used);
        used += static_cast<std::size_t>(count);
        choice.offsets[step + 1] = static_cast<std::uint32_t>(used);
      }
      choice.lengths[number] = static_cast<std::uint32_t>(count + 1);
      Plan& plan = add_plan(parameters, kind, choice.table, count);
      plan.arguments.chosen = choice.chosen;
      plan.arguments.number = number;
      convert(plan, weights + first, static_cast<int>(used - first));
    }
  }

  static void convert(const Plan& plan, std::uint32_t* weights, int count) {
    if (plan.resident_blocks > 0)
      std::transform(weights, weights + count, weights, weight_digits);
  }

  /// Adds a plan whose table has `count` entries and a final 0.
  Plan& add_plan(const Parameters& parameters, ChannelKind kind, const std::uint32_t* table,
                 int count) {
    Plan& plan = plans_[plan_count_++];
    plan = {};
    NlMeansArguments& a = plan.arguments;
    for (int g = 0; g < frame_.group_count; ++g)
      if (frame_.groups[g].kind == kind) {
        DenoisedPicture& picture = a.pictures[a.picture_count];
        picture.width = frame_.groups[g].width();
        picture.height = frame_.groups[g].height();
        picture.padded = padded_.as<std::uint8_t>() + padded_at_[g];
        plan.groups[a.picture_count++] = g;
      }
    a.channels = channels_of(kind);
    a.frame_count = parameters.frames;
    a.padded_frame_bytes = static_cast<std::int64_t>(padded_frame_bytes_);
    a.search_radius = parameters.search / 2;
    a.patch_radius = parameters.patch / 2;
    a.weights = table;
    a.last_weight = static_cast<std::uint32_t>(count - 1);
    a.distance_shift = distance_shift(parameters, layout_.bits);
    a.bits = layout_.bits;
    a.shift = layout_.shift;
    choice_.choose(parameters, plan, count + 1);
    return plan;
  }

  void set_planes(const DenoisedChannels& group, const Frame& out, DenoisedPicture& picture) const {
    picture.sample_width = group.channels[0].subsampling_x;
    picture.sample_height = group.channels[0].subsampling_y;
    for (int c = 0; c < group.count; ++c) {
      const Channel& channel = group.channels[c];
      const View<std::uint8_t> to = out.planes[channel.plane];
      const int bytes = layout_.sample_bytes();
      picture.planes[c] = {channel.plane, to.data, kernel_pitch("non-local means", to.pitch),
                           channel.offset * bytes, channel.step * bytes};
    }
  }

  Device& device_;
  FrameLayout layout_;
  DenoisedFrame frame_;
  KernelChoice choice_;
  TableUploader uploader_;
  Buffer padded_;
  std::size_t padded_frame_bytes_ = 0;  ///< size of the padded groups of a frame
  std::array<std::size_t, FrameLayout::max_channels> padded_at_{};
  std::array<Buffer, kind_count> chosen_tables_;
  Buffer chosen_;  ///< strength class of each chosen table
  Launcher<NlMeansArguments> launcher_;
  Launcher<TableChoices> choice_launcher_;
  TableChoices choices_{};
  Plan plans_[kind_count * strength_class_count];
  int plan_count_ = 0;
};

}  // namespace

std::unique_ptr<NlMeans::Backend> make_nl_means_cuda(Device& device, const FrameLayout& layout,
                                                     int frame_count) {
  return std::make_unique<NlMeansCuda>(device, layout, frame_count);
}

}  // namespace cudavision::nlmeans
