#include "limb/dynamics/kinematics/base_velocity_impl.hpp"

namespace limb {

template bool has_floating_base(const Model<double>&);
template BodyId floating_base(const Model<double>&);
template Motion<double> base_velocity(const Model<double>&, const Kinematics<double>&,
                                      BaseVelocityConvention);
template Motion<double> base_acceleration(const Model<double>&, const Kinematics<double>&,
                                          BaseVelocityConvention);
template Matrix6<double> base_velocity_matrix(const Model<double>&, const Kinematics<double>&,
                                              BaseVelocityConvention, BaseVelocityConvention);
template void convert_base_velocity(const Model<double>&, const Kinematics<double>&,
                                    VectorIn<double>&, BaseVelocityConvention,
                                    BaseVelocityConvention, VectorOut<double>);
template void convert_base_acceleration(const Model<double>&, const Kinematics<double>&,
                                        VectorIn<double>&, BaseVelocityConvention,
                                        BaseVelocityConvention, VectorOut<double>);
template void convert_base_force(const Model<double>&, const Kinematics<double>&, VectorIn<double>&,
                                 BaseVelocityConvention, BaseVelocityConvention, VectorOut<double>);
template void convert_base_columns(const Model<double>&, const Kinematics<double>&,
                                   BaseVelocityConvention, BaseVelocityConvention,
                                   MatrixOut<double>);

}  // namespace limb
