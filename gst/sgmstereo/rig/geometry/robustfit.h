// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

/// Fits a few unknowns to many measurements with outliers.
namespace cudavision::rig {

template <std::size_t count>
struct FitQuality {
  /// Covariance of the unknowns in row-major order; 0 for exact values.
  std::array<double, count * count> covariance{};
  double noise = 0;         ///< robust σ of residuals: 1.4826 · median of |r|, at least min_noise
  double inlier_share = 0;  ///< weighted share of inliers

  double error(auto unknown) const {
    return std::sqrt(covariance[(count + 1) * static_cast<std::size_t>(unknown)]);
  }
};

template <std::size_t count>
struct RobustFit : FitQuality<count> {
  std::array<double, count> unknowns{};
};

/// The residuals Model(unknowns).residual(point) and their derivatives.
template <std::size_t count, class Model>
class Residuals {
 public:
  using Unknowns = std::array<double, count>;

  explicit Residuals(const Unknowns& at) : here_(at) {
    for (std::size_t i = 0; i < count; ++i)
      for (const double step : {probe, -probe}) {
        Unknowns moved = at;
        moved[i] += step;
        beside_.emplace_back(moved);
      }
  }

  double at(const auto& point) const { return here_.residual(point); }
  Unknowns slopes(const auto& point) const {
    Unknowns result;
    for (std::size_t i = 0; i < count; ++i)
      result[i] =
          (beside_[2 * i].residual(point) - beside_[2 * i + 1].residual(point)) / (2 * probe);
    return result;
  }

 private:
  static constexpr double probe = 1e-6;

  Model here_;
  std::vector<Model> beside_;  ///< for derivatives: each unknown increased, and then decreased
};

namespace robust {

/// σ is constant from `noise_iterations` on, because σ and the weights may oscillate.
inline constexpr int max_iterations = 100, noise_iterations = 40;
inline constexpr double smallest_step = 1e-9;
/// The usual radius of Tukey's biweight, which gives an efficiency of 95 % for Gaussian errors.
inline constexpr double biweight_radius = 4.685;
inline constexpr double deviations_per_median = 1.4826;

/// Gauss-Jordan elimination; `a` must be symmetric and positive definite.
template <std::size_t count, class Matrix>
Matrix inverse_of(Matrix a) {
  Matrix inverse{};
  for (std::size_t i = 0; i < count; ++i)
    inverse[count * i + i] = 1;
  for (std::size_t pivot = 0; pivot < count; ++pivot) {
    const double scale = 1 / a[count * pivot + pivot];
    for (std::size_t j = 0; j < count; ++j) {
      a[count * pivot + j] *= scale;
      inverse[count * pivot + j] *= scale;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double factor = a[count * i + pivot];
      for (std::size_t j = 0; j < count && i != pivot; ++j) {
        a[count * i + j] -= factor * a[count * pivot + j];
        inverse[count * i + j] -= factor * inverse[count * pivot + j];
      }
    }
  }
  return inverse;
}

}  // namespace robust

/// Minimizes Σ w·(r / σ)² + Σ ((u − likely) / deviation)² over the unknowns u, by Gauss-Newton from
/// `start` on. A deviation of 0 marks an exact value. r are the residuals of the points. w is
/// Tukey's biweight (1 − (r / 4.685 σ)²)² up to 4.685 σ and 0 beyond. σ is 1.4826 times the median
/// of |r|, but at least min_noise. The same points in the same order give bit-identical results.
template <class Model, std::size_t count, class Point>
RobustFit<count> fit_robustly(const std::vector<Point>& points,
                              const std::array<double, count>& start,
                              const std::array<double, count>& likely,
                              const std::array<double, count>& deviations, double min_noise) {
  RobustFit<count> fit;
  fit.unknowns = start;
  fit.noise = min_noise;
  std::vector<double> residuals(points.size()), sizes(points.size());
  for (int iteration = 0; iteration < robust::max_iterations; ++iteration) {
    const Residuals<count, Model> model(fit.unknowns);
    for (std::size_t i = 0; i < points.size(); ++i) {
      residuals[i] = model.at(points[i]);
      sizes[i] = std::abs(residuals[i]);
    }
    if (!points.empty() && iteration < robust::noise_iterations) {
      const auto median = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
      std::nth_element(sizes.begin(), median, sizes.end());
      fit.noise = std::max(robust::deviations_per_median * *median, min_noise);
    }
    // The normal equations, in units of the noise.
    std::array<double, count * count> normal{};
    std::array<double, count> right{};
    double weights = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double residual = residuals[i] / fit.noise;
      const double part =
          1 - residual * residual / (robust::biweight_radius * robust::biweight_radius);
      if (!(part > 0))
        continue;
      const double weight = part * part;
      weights += weight;
      std::array<double, count> slopes = model.slopes(points[i]);
      for (double& slope : slopes)
        slope /= fit.noise;
      for (std::size_t j = 0; j < count; ++j) {
        right[j] -= weight * slopes[j] * residual;
        for (std::size_t k = 0; k < count; ++k)
          normal[count * j + k] += weight * slopes[j] * slopes[k];
      }
    }
    fit.inlier_share = points.empty() ? 0 : weights / static_cast<double>(points.size());
    for (std::size_t j = 0; j < count; ++j) {
      if (const double deviation = deviations[j]; deviation > 0) {
        normal[count * j + j] += 1 / (deviation * deviation);
        right[j] += (likely[j] - fit.unknowns[j]) / (deviation * deviation);
        continue;
      }
      // Excludes an exact value from the fit: clears its row and column.
      for (std::size_t k = 0; k < count; ++k)
        normal[count * j + k] = normal[count * k + j] = 0;
      normal[count * j + j] = 1;
      right[j] = 0;
    }
    fit.covariance = robust::inverse_of<count>(normal);
    double largest = 0;
    for (std::size_t j = 0; j < count; ++j) {
      double step = 0;
      for (std::size_t k = 0; k < count; ++k)
        step += fit.covariance[count * j + k] * right[k];
      fit.unknowns[j] += step;
      largest = std::max(largest, std::abs(step));
    }
    if (largest < robust::smallest_step)
      break;
  }
  for (std::size_t j = 0; j < count; ++j)
    if (deviations[j] == 0)
      fit.covariance[count * j + j] = 0;
  return fit;
}

/// The vertical distance between matching points of the two pictures.
struct RowsApart {
  double rows = 0;   ///< root mean square over positions, in focal lengths
  double error = 0;  ///< standard error of rows
};

template <class Model, std::size_t count, class Point>
RowsApart residuals_at(const std::array<double, count>& unknowns, const FitQuality<count>& fit,
                       const std::vector<Point>& points) {
  const Residuals<count, Model> model(unknowns);
  double squares = 0, variances = 0;
  for (const Point& point : points) {
    const double apart = model.at(point);
    squares += apart * apart;
    const std::array<double, count> slopes = model.slopes(point);
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t l = 0; l < count; ++l)
        variances += slopes[k] * slopes[l] * fit.covariance[count * k + l];
  }
  const auto all = static_cast<double>(points.size());
  return {std::sqrt(squares / all), std::sqrt(std::max(variances, 0.0) / all)};
}

}  // namespace cudavision::rig
