// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sgm/mountfit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cudavision::sgm {
namespace {

constexpr int count = MountPrior::unknowns;
using Unknowns = std::array<double, count>;
using Matrix = std::array<double, count * count>;
using Rotation = std::array<double, 9>;

constexpr int max_iterations = 100;
/// σ and the weights depend on each other, and may chase each other for ever. So σ stays from this
/// iteration on.
constexpr int noise_iterations = 15;
/// Steps below this, in radians and as a share, change no row of any picture.
constexpr double smallest_step = 1e-9;
/// With this factor, Tukey's biweight needs 5 % more points than least squares if all errors are
/// Gaussian.
constexpr double biweight_reach = 4.685;
constexpr double deviations_per_median = 1.4826;
/// The step of derivatives: small against any turn that matters, and large against rounding.
constexpr double probe = 1e-6;

Unknowns unknowns_of(const MountTurn& turn) {
  return {turn.pitch, turn.yaw, turn.roll, turn.zoom, std::log(turn.focal)};
}

MountTurn turn_of(const Unknowns& u) {
  return {u[0], u[1], u[2], u[3], std::exp(u[4])};
}

/// Returns the place of a direction after a rotation.
std::array<double, 2> rotated(const Rotation& r, double x, double y) {
  const double z = r[6] * x + r[7] * y + r[8];
  return {(r[0] * x + r[1] * y + r[2]) / z, (r[3] * x + r[4] * y + r[5]) / z};
}

Rotation transposed(const Rotation& r) {
  return {r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]};
}

/// Undoes a turn.
class Undo {
 public:
  explicit Undo(const MountTurn& turn)
      : back_(transposed(rotation_of(turn))),
        focal_(turn.focal),
        scale_(1 / (turn.focal * turn.zoom)) {}

  std::array<double, 2> place(double x, double y) const {
    const auto [u, v] = rotated(back_, scale_ * x, scale_ * y);
    return {focal_ * u, focal_ * v};
  }
  double row(double x, double y) const { return place(x, y)[1]; }

 private:
  Rotation back_;
  double focal_, scale_;
};

/// The row of a place in the right picture, and its derivatives by the unknowns.
class Rows {
 public:
  explicit Rows(const Unknowns& u) : here_(turn_of(u)), there_(neighbours(u)) {}

  double at(double x, double y) const { return here_.row(x, y); }
  Unknowns slopes(double x, double y) const {
    Unknowns result;
    for (std::size_t i = 0; i < count; ++i)
      result[i] = (there_[2 * i].row(x, y) - there_[2 * i + 1].row(x, y)) / (2 * probe);
    return result;
  }

 private:
  static std::vector<Undo> neighbours(const Unknowns& u) {
    std::vector<Undo> all;
    for (std::size_t i = 0; i < count; ++i)
      for (const double step : {probe, -probe}) {
        Unknowns moved = u;
        moved[i] += step;
        all.emplace_back(turn_of(moved));
      }
    return all;
  }

  Undo here_;
  std::vector<Undo> there_;  ///< on both sides of each unknown
};

/// Returns the inverse of a symmetric, positive definite matrix, by Gauss and Jordan's elimination.
Matrix inverse_of(Matrix a) {
  Matrix inverse{};
  for (int i = 0; i < count; ++i)
    inverse[count * i + i] = 1;
  for (int pivot = 0; pivot < count; ++pivot) {
    const double scale = 1 / a[count * pivot + pivot];
    for (int j = 0; j < count; ++j) {
      a[count * pivot + j] *= scale;
      inverse[count * pivot + j] *= scale;
    }
    for (int i = 0; i < count; ++i) {
      const double factor = a[count * i + pivot];
      for (int j = 0; j < count && i != pivot; ++j) {
        a[count * i + j] -= factor * a[count * pivot + j];
        inverse[count * i + j] -= factor * inverse[count * pivot + j];
      }
    }
  }
  return inverse;
}

/// values must not be empty.
double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double biweight(double ratio) {
  const double part = 1 - ratio * ratio / (biweight_reach * biweight_reach);
  return part > 0 ? part * part : 0;
}

/// The linear equations of a step, in units of the noise.
struct Equations {
  Matrix normal{};
  Unknowns right{};
  double weights = 0;

  void add(double weight, const Unknowns& slope, double residual) {
    weights += weight;
    for (int j = 0; j < count; ++j) {
      right[j] -= weight * slope[j] * residual;
      for (int k = 0; k < count; ++k)
        normal[count * j + k] += weight * slope[j] * slope[k];
    }
  }

  /// Adds what was known before, and takes what is known exactly out of the equations.
  void add(const MountPrior& prior, const Unknowns& at) {
    const Unknowns likely = unknowns_of(prior.turn);
    for (int j = 0; j < count; ++j) {
      const double deviation = prior.deviations[j];
      if (deviation > 0) {
        normal[count * j + j] += 1 / (deviation * deviation);
        right[j] += (likely[j] - at[j]) / (deviation * deviation);
        continue;
      }
      for (int k = 0; k < count; ++k)
        normal[count * j + k] = normal[count * k + j] = 0;
      normal[count * j + j] = 1;
      right[j] = 0;
    }
  }
};

}  // namespace

std::array<double, 9> rotation_of(const MountTurn& turn) {
  // Rodrigues' formula.
  const double x = turn.pitch, y = turn.yaw, z = turn.roll;
  const double angle = std::sqrt(x * x + y * y + z * z);
  const double a = angle < 1e-9 ? 1 : std::sin(angle) / angle;
  const double b = angle < 1e-9 ? 0.5 : (1 - std::cos(angle)) / (angle * angle);
  return {1 - b * (y * y + z * z), b * x * y - a * z,       b * x * z + a * y,
          b * x * y + a * z,       1 - b * (x * x + z * z), b * y * z - a * x,
          b * x * z - a * y,       b * y * z + a * x,       1 - b * (x * x + y * y)};
}

std::array<double, 2> turned_place(const MountTurn& turn, double x, double y) {
  const auto [u, v] = rotated(rotation_of(turn), x / turn.focal, y / turn.focal);
  const double scale = turn.focal * turn.zoom;
  return {scale * u, scale * v};
}

std::array<double, 2> upright_place(const MountTurn& turn, double x, double y) {
  return Undo(turn).place(x, y);
}

double yaw_for_column(const MountTurn& turn, double x, double y, double column) {
  MountTurn its = turn;
  for (int i = 0; i < 10; ++i) {
    const double found = upright_place(its, x, y)[0];
    MountTurn more = its;
    more.yaw += probe;
    its.yaw += (column - found) * probe / (upright_place(more, x, y)[0] - found);
  }
  return its.yaw;
}

double MountFit::error(int unknown) const {
  return std::sqrt(covariance[static_cast<std::size_t>((unknowns + 1) * unknown)]);
}

MountFit fit_mount(const std::vector<MatchedPoint>& points, const MountPrior& prior,
                   double min_noise) {
  Unknowns u = unknowns_of(prior.turn);
  MountFit fit;
  fit.noise = min_noise;
  std::vector<double> residuals(points.size()), sizes(points.size());
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    const Rows rows(u);
    for (std::size_t i = 0; i < points.size(); ++i) {
      residuals[i] = rows.at(points[i].right_x, points[i].right_y) - points[i].left_y;
      sizes[i] = std::abs(residuals[i]);
    }
    if (!points.empty() && iteration < noise_iterations)
      fit.noise = std::max(deviations_per_median * median_of(sizes), min_noise);
    Equations equations;
    for (std::size_t i = 0; i < points.size(); ++i) {
      Unknowns slopes = rows.slopes(points[i].right_x, points[i].right_y);
      for (double& slope : slopes)
        slope /= fit.noise;
      equations.add(biweight(residuals[i] / fit.noise), slopes, residuals[i] / fit.noise);
    }
    fit.fitting = points.empty() ? 0 : equations.weights / static_cast<double>(points.size());
    equations.add(prior, u);
    fit.covariance = inverse_of(equations.normal);
    double largest = 0;
    for (int j = 0; j < count; ++j) {
      double step = 0;
      for (int k = 0; k < count; ++k)
        step += fit.covariance[count * j + k] * equations.right[k];
      u[j] += step;
      largest = std::max(largest, std::abs(step));
    }
    if (largest < smallest_step)
      break;
  }
  fit.turn = turn_of(u);
  for (int j = 0; j < count; ++j)
    if (prior.deviations[j] == 0)
      fit.covariance[count * j + j] = 0;
  return fit;
}

RowsApart rows_apart(const MountFit& fit, const MountTurn& corrected, double half_width,
                     double half_height) {
  constexpr int steps = 4;
  constexpr int places = (2 * steps + 1) * (2 * steps + 1);
  const Rows rows(unknowns_of(fit.turn));
  double squares = 0, variances = 0;
  for (int j = -steps; j <= steps; ++j)
    for (int i = -steps; i <= steps; ++i) {
      const double row = half_height * j / steps;
      const auto [x, y] = turned_place(corrected, half_width * i / steps, row);
      const double apart = rows.at(x, y) - row;
      squares += apart * apart;
      const Unknowns slopes = rows.slopes(x, y);
      for (int k = 0; k < count; ++k)
        for (int l = 0; l < count; ++l)
          variances += slopes[k] * slopes[l] * fit.covariance[count * k + l];
    }
  return {std::sqrt(squares / places), std::sqrt(std::max(variances, 0.0) / places)};
}

}  // namespace cudavision::sgm
