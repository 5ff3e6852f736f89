#include "limb/model/core/joint_impl.hpp"

namespace limb {

template class Joint<double>;
template class Joint<float>;
template Joint<float> Joint<double>::cast<float>() const;
template Joint<double> Joint<double>::cast<double>() const;
template Joint<double> Joint<float>::cast<double>() const;

}  // namespace limb
