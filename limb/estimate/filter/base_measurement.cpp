#include "limb/estimate/filter/base_measurement.hpp"

#include <cmath>
#include <numbers>

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

}  // namespace

BaseMeasurement foot_position(const FilterState& state, int slot, const Vec& p_SF,
                              const Mat& noise_S) {
  return foot_position_impl<double>(state, slot, p_SF, noise_S);
}

BaseMeasurement foot_velocity(const FilterState& state, const Vec& gyro, const Vec& p_SF,
                              const Vec& v_SF, const Mat& noise_S) {
  const Mat R_SW = state.R_WS.transpose();
  BaseMeasurement m;
  m.residual = -(R_SW * state.v_WS + (gyro - state.gyro_bias).cross(p_SF) + v_SF);
  m.noise = noise_S;
  m.add(ErrorIndex::rotation, R_SW * skew<double>(state.v_WS));
  m.add(ErrorIndex::velocity, R_SW);
  m.add(ErrorIndex::gyro_bias, skew<double>(p_SF));
  return m;
}

BaseMeasurement foot_height(const FilterState& state, int slot, double height, double deviation) {
  BaseMeasurement m;
  m.rows = 1;
  m.residual[0] = height - state.p_WF[static_cast<std::size_t>(slot)].z();
  m.noise(0, 0) = deviation * deviation;
  Mat J = Mat::Zero();
  J(0, 2) = 1;
  m.add(ErrorIndex::foot(slot), J);
  return m;
}

BaseMeasurement position_fix(const FilterState& state, const Vec& p_WQ, const Vec& p_SQ,
                             const Mat& noise_W) {
  const Vec p_SQ_W = state.R_WS * p_SQ;
  BaseMeasurement m;
  m.residual = p_WQ - state.p_WS - p_SQ_W;
  m.noise = noise_W;
  m.absolute = true;
  m.add(ErrorIndex::position, Mat::Identity());
  m.add(ErrorIndex::rotation, -skew<double>(p_SQ_W));
  return m;
}

BaseMeasurement orientation_fix(const FilterState& state, const Mat& R_WS, const Mat& noise_W) {
  BaseMeasurement m;
  m.residual = so3::log<double>(R_WS * state.R_WS.transpose());
  m.noise = noise_W;
  m.add(ErrorIndex::rotation, Mat::Identity());
  return m;
}

BaseMeasurement velocity_fix(const FilterState& state, const Vec& gyro, const Vec& v,
                             const Vec& p_SQ, const Mat& noise, bool in_sensor_axes) {
  const Vec swing = (gyro - state.gyro_bias).cross(p_SQ);
  const Mat R_SW = state.R_WS.transpose();
  BaseMeasurement m;
  m.noise = noise;
  if (in_sensor_axes) {
    m.residual = v - R_SW * state.v_WS - swing;
    m.add(ErrorIndex::rotation, R_SW * skew<double>(state.v_WS));
    m.add(ErrorIndex::velocity, R_SW);
    m.add(ErrorIndex::gyro_bias, skew<double>(p_SQ));
    return m;
  }
  m.residual = v - state.v_WS - state.R_WS * swing;
  m.add(ErrorIndex::rotation, -skew<double>(state.R_WS * swing));
  m.add(ErrorIndex::velocity, Mat::Identity());
  m.add(ErrorIndex::gyro_bias, state.R_WS * skew<double>(p_SQ));
  return m;
}

BaseMeasurement zero_rate(const FilterState& state, const Vec& mean_rate, const Mat& noise_S) {
  BaseMeasurement m;
  m.residual = mean_rate - state.gyro_bias;
  m.noise = noise_S;
  m.add(ErrorIndex::gyro_bias, Mat::Identity());
  return m;
}

BaseMeasurement yaw_fix(const FilterState& state, double yaw, const Vec& x_S, double deviation) {
  const Vec x = state.R_WS * x_S;
  const double square = x.x() * x.x() + x.y() * x.y();
  BaseMeasurement m;
  m.rows = 1;
  m.residual[0] = std::remainder(yaw - std::atan2(x.y(), x.x()), 2 * std::numbers::pi);
  m.noise(0, 0) = deviation * deviation;
  // d atan2 = (x dy - y dx) / square, with d(x, y, z) = e x (x, y, z).
  Mat J = Mat::Zero();
  J.row(0) = x.cross(Vec(-x.y(), x.x(), 0)).transpose() / square;
  m.add(ErrorIndex::rotation, J);
  return m;
}

}  // namespace limb
