#include "limb/model/core/build_model_impl.hpp"

namespace limb {

template class Model<double>;
template class Model<float>;
template Model<float> Model<double>::cast<float>() const;
template Model<double> Model<double>::cast<double>() const;
template Model<double> Model<float>::cast<double>() const;
template Model<double> build_model(const Description<double>&, Base);

}  // namespace limb
