// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The features of filtered pictures on CUDA, of one or two pictures in a launch.

#include "cuda/sgm/census/filtered.cuh"

namespace cudavision::sgm {

FilteredCensusCuda::FilteredCensusCuda(LaunchQueue& queue, const StageConfig& config)
    : config_(config), queue_(queue) {}

void FilteredCensusCuda::run(const FilteredPlane& filtered, const NoiseSource& noise,
                             const FeaturePlane& features) const {
  FilteredCensusArguments a{};
  a.census.pictures[0] = samples_of(filtered);
  a.census.features[0] = features;
  a.noise = noise;
  launch(a, 1);
}

void FilteredCensusCuda::run(const FilteredPlane& left, const FilteredPlane& right,
                             const NoiseSource& noise, const FeaturePlane& left_features,
                             const FeaturePlane& right_features, const StepPenalties& steps,
                             const PathPenalty& penalty) const {
  FilteredCensusArguments a{};
  a.census.pictures[0] = samples_of(left);
  a.census.pictures[1] = samples_of(right);
  a.census.features[0] = left_features;
  a.census.features[1] = right_features;
  a.census.penalties = steps;
  a.noise = noise;
  a.penalty = penalty;
  launch(a, 2);
}

Samples FilteredCensusCuda::samples_of(const FilteredPlane& filtered) const {
  SamplePlane plane = filtered_plane(config_, filtered.data);
  plane.rows.pitch = filtered.pitch;
  return Samples(plane);
}

void FilteredCensusCuda::launch(FilteredCensusArguments& a, int pictures) const {
  lay_out(a.census, config_, gradient::tile_height, pictures);
  queue_.launch(gradient::filtered_census_kernel,
                static_cast<unsigned>(pictures) * static_cast<unsigned>(a.census.blocks),
                census_threads, 0, a);
}

}  // namespace cudavision::sgm
