#include "python/src/contact_results.hpp"

#include <algorithm>

namespace limb::python {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}
void append(const Vector3<double>& x, std::vector<double>& to) {
  to.insert(to.end(), x.begin(), x.end());
}

}  // namespace

nb::object contact_points(const Contacts& contacts) {
  const auto& shapes = contacts.setup().shapes;
  nb::list names, others;
  std::vector<double> positions, normals, forces, velocities, gaps, frictions;
  for (const ContactPoint& c : contacts.points()) {
    names.append(shapes[at(c.shape)].name);
    if (c.other >= 0) {
      others.append(c.other);
    } else {
      others.append(shapes[at(-1 - c.other)].name);
    }
    append(c.p_W, positions);
    append(c.n_W, normals);
    append(c.force_W, forces);
    append(c.velocity_W, velocities);
    gaps.push_back(c.gap);
    frictions.push_back(c.friction);
  }
  return result_of("ContactPoints", names, others, array_of(positions, 3), array_of(normals, 3),
                   array_of(forces, 3), array_of(velocities, 3), array_of(gaps, 0),
                   array_of(frictions, 0));
}

nb::object contact_report(const ContactReport& r) {
  return result_of("ContactReport", r.contacts, r.touching, r.residual, r.complementarity, r.cone,
                   r.penetration, r.dissipated, r.friction_dissipated + r.stops_dissipated,
                   r.sweeps, r.newton_steps, r.converged);
}

ContactRecord::ContactRecord(const Contacts& contacts) {
  for (const ContactShape& shape : contacts.setup().shapes) {
    const auto found = std::find(names_.begin(), names_.end(), shape.name);
    name_of_.push_back(static_cast<int>(found - names_.begin()));
    if (found == names_.end()) names_.push_back(shape.name);
  }
  force_.resize(3, static_cast<Eigen::Index>(names_.size()));
  forces_.resize(names_.size());
}

void ContactRecord::update(const Contacts& contacts) {
  const ContactReport& now = contacts.report();
  worst_.residual = std::max(worst_.residual, now.residual);
  worst_.complementarity = std::max(worst_.complementarity, now.complementarity);
  worst_.cone = std::max(worst_.cone, now.cone);
  worst_.penetration = std::max(worst_.penetration, now.penetration);
  converged_ = converged_ && now.converged;
}

void ContactRecord::add_row(const Contacts& contacts) {
  update(contacts);
  touching_.push_back(contacts.report().touching);
  penetration_.push_back(worst_.penetration);
  residual_.push_back(worst_.residual);
  complementarity_.push_back(worst_.complementarity);
  cone_.push_back(worst_.cone);
  dissipated_.push_back(contacts.dissipated());
  append(contacts.center_of_pressure(), pressure_);
  force_.setZero();
  for (const ContactPoint& c : contacts.points()) {
    force_.col(name_of_[at(c.shape)]) += c.force_W;
    if (c.other < 0) force_.col(name_of_[at(-1 - c.other)]) -= c.force_W;
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    append(force_.col(static_cast<Eigen::Index>(i)), forces_[i]);
  }
  worst_ = {};
}

nb::dict ContactRecord::arrays() const {
  nb::dict all, force;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    force[names_[i].c_str()] = array_of(forces_[i], 3);
  }
  all["force"] = force;
  all["touching"] = array_of(touching_, 0);
  all["center_of_pressure"] = array_of(pressure_, 3);
  all["dissipated"] = array_of(dissipated_, 0);
  all["penetration"] = array_of(penetration_, 0);
  all["residual"] = array_of(residual_, 0);
  all["complementarity"] = array_of(complementarity_, 0);
  all["cone"] = array_of(cone_, 0);
  all["converged"] = converged_;
  return all;
}

}  // namespace limb::python
