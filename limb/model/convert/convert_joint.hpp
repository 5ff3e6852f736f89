#pragma once

#include "limb/model/convert/convert.hpp"

/// Conversion of the coordinates of one joint: the part of a Convention that depends on its type.
namespace limb::convert_joint {

/// Square, one row per degree of freedom, never on the heap.
using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
using Column = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6, 1>;

/// Whether the joint has a quaternion in the other library.
bool has_quaternion(const ConventionFacts& facts, JointType type);
/// Size of the joint's q, including the quaternion's w wherever it is stored.
int size_of_q(const ConventionFacts& facts, JointType type);

/// @param other  the joint's first number in the other q
/// @param w      the quaternion's w if it is stored at the end of q; otherwise unused
void write_q(const ConventionFacts& facts, const Joint<double>& joint, const Pose<double>& X_PJ,
             const double* q, double* other, double* w);
void read_q(const ConventionFacts& facts, const Joint<double>& joint, const Pose<double>& X_PJ,
            const double* other, const double* w, double* q);

/// The block of P(q) that belongs to the joint; orthogonal.
Block velocity_block(const ConventionFacts& facts, const Joint<double>& joint,
                     const Pose<double>& X_PJ, const double* q);
/// d/dt (velocity block) v.
Column bias(const ConventionFacts& facts, const Joint<double>& joint, const Pose<double>& X_PJ,
            const double* q, const double* v);

}  // namespace limb::convert_joint
