#include "limb/dynamics/identify/log_cholesky_regressor_impl.hpp"

namespace limb {

template void log_cholesky_parameters(const Model<double>&, VectorOut<double>);
template void parameters_from_log_cholesky<double>(VectorIn<double>&, VectorOut<double>);
template void log_cholesky_from_parameters<double>(VectorIn<double>&, VectorOut<double>);
template void regressor_by_log_cholesky<double>(VectorIn<double>&, MatrixOut<double>);

}  // namespace limb
