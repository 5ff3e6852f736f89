#pragma once

#include "limb/dynamics/identify/log_cholesky_regressor.hpp"
#include "limb/dynamics/identify/regressor_impl.hpp"

namespace limb {
namespace log_cholesky_detail {

inline void check_bodies(const char* call, const char* name, Eigen::Index size,
                         const char* other_name, Eigen::Index other) {
  if (size % kBodyParameters != 0) {
    fail(call, std::string("size of ") + name, std::to_string(size), "a multiple of ten");
  }
  check_size(call, other_name, other, size);
}

/// log_cholesky, with the name of the body in its error.
template <typename T>
Vector10<T> theta_of(const char* call, const Inertia<T>& I, const std::string& body) {
  try {
    return log_cholesky(I);
  } catch (const Error& error) {
    throw Error(std::string(call) + ": body " + body + ": " + error.what());
  }
}

}  // namespace log_cholesky_detail

template <typename T>
void log_cholesky_parameters(const Model<T>& model, VectorOut<T> theta) {
  constexpr const char* kCall = "log_cholesky_parameters";
  regressor_detail::check_columns(kCall, "theta", model, theta.size());
  for (int i = 1; i < model.body_count(); ++i) {
    const Body<T>& body = model.body(BodyId(i));
    theta.template segment<kBodyParameters>(kBodyParameters * (i - 1)) =
        log_cholesky_detail::theta_of(kCall, body.inertia, "'" + body.link + "'");
  }
}

template <typename T>
void parameters_from_log_cholesky(VectorIn<T>& theta, VectorOut<T> p) {
  log_cholesky_detail::check_bodies("parameters_from_log_cholesky", "theta", theta.size(), "p",
                                    p.size());
  for (Eigen::Index at = 0; at < theta.size(); at += kBodyParameters) {
    const Vector10<T> own = theta.template segment<kBodyParameters>(at);
    p.template segment<kBodyParameters>(at) =
        inertial_parameters(inertia_from_log_cholesky<T>(own));
  }
}

template <typename T>
void log_cholesky_from_parameters(VectorIn<T>& p, VectorOut<T> theta) {
  constexpr const char* kCall = "log_cholesky_from_parameters";
  log_cholesky_detail::check_bodies(kCall, "p", p.size(), "theta", theta.size());
  for (Eigen::Index at = 0; at < p.size(); at += kBodyParameters) {
    const Vector10<T> own = p.template segment<kBodyParameters>(at);
    theta.template segment<kBodyParameters>(at) = log_cholesky_detail::theta_of(
        kCall, inertia_from_parameters<T>(own), std::to_string(at / kBodyParameters + 1));
  }
}

template <typename T>
void regressor_by_log_cholesky(VectorIn<T>& theta, MatrixOut<T> Y) {
  constexpr const char* kCall = "regressor_by_log_cholesky";
  log_cholesky_detail::check_bodies(kCall, "theta", theta.size(), "columns of Y", Y.cols());
  for (Eigen::Index at = 0; at < theta.size(); at += kBodyParameters) {
    const Eigen::Matrix<T, 10, 10> J =
        log_cholesky_jacobian<T>(theta.template segment<kBodyParameters>(at));
    for (Eigen::Index r = 0; r < Y.rows(); ++r) {
      const Eigen::Matrix<T, 1, 10> row = Y.row(r).template segment<kBodyParameters>(at);
      Y.row(r).template segment<kBodyParameters>(at) = row.lazyProduct(J);
    }
  }
}

}  // namespace limb
