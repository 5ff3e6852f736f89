#include "limb/codegen/record/jacobian.hpp"

#include <cstdint>

#include "limb/math/quaternion.hpp"

namespace limb::codegen {
namespace {

std::size_t at(Eigen::Index i) {
  return static_cast<std::size_t>(i);
}

/// Which nodes depend on which directions: a bit set for each node.
class Dependence {
 public:
  Dependence(const Graph& graph, const std::vector<int>& roots,
             const std::vector<Direction>& directions)
      : words_((directions.size() + 63) / 64),
        bits_(static_cast<std::size_t>(graph.size()) * words_, 0) {
    for (std::size_t d = 0; d < directions.size(); ++d) {
      for (const auto& [node, derivative] : directions[d]) {
        if (!graph.is_constant(derivative, 0)) of(node)[d / 64] |= std::uint64_t{1} << d % 64;
      }
    }
    const std::vector<char> needed = graph.needed_by(roots);
    for (int i = 0; i < graph.size(); ++i) {
      if (needed[static_cast<std::size_t>(i)] == 0) continue;
      const Node& n = graph[i];
      const int operands[] = {n.a, n.b, n.c};
      for (int k = 0; k < operand_count(n.op); ++k) {
        for (std::size_t w = 0; w < words_; ++w) of(i)[w] |= of(operands[k])[w];
      }
    }
  }
  bool depends(int node, std::size_t direction) {
    return (of(node)[direction / 64] >> direction % 64 & 1) != 0;
  }

 private:
  std::uint64_t* of(int node) { return bits_.data() + static_cast<std::size_t>(node) * words_; }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

std::vector<Direction> unit_directions(const VectorX<Traced>& x) {
  std::vector<Direction> directions;
  for (const Traced& entry : x) directions.push_back({{entry.node(), Traced(1).node()}});
  return directions;
}

std::vector<Direction> tangents(const Model<Traced>& model, const VectorX<Traced>& q) {
  std::vector<Direction> directions(static_cast<std::size_t>(model.nv()));
  const auto add = [&](int direction, int entry, const Traced& derivative) {
    directions[static_cast<std::size_t>(direction)].emplace_back(q[entry].node(),
                                                                 derivative.node());
  };
  // q exp(w): the derivative of a quaternion is q (w, 0) / 2.
  const auto add_quaternion = [&](int v, int x) {
    const Traced half(0.5), a = half * q[x], b = half * q[x + 1], c = half * q[x + 2],
                            d = half * q[x + 3];
    const Traced columns[3][4] = {{d, c, -b, -a}, {-c, d, a, -b}, {b, -a, d, -c}};
    for (int k = 0; k < 3; ++k) {
      for (int r = 0; r < 4; ++r) add(v + k, x + r, columns[k][r]);
    }
  };
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto& row = model.coupling().rows()[i - 1];
    if (row.yq < 0 || row.terms.empty()) continue;
    const JointType type = model.bodies()[i].joint.type();
    const int v = row.terms[0].y, x = row.yq;
    switch (type) {
      case JointType::spherical:
        add_quaternion(v, x);
        break;
      case JointType::free: {
        const Matrix3<Traced> R =
            to_matrix(quat_xyzw<Traced>(q[x + 3], q[x + 4], q[x + 5], q[x + 6]));
        for (int c = 0; c < 3; ++c) {
          for (int r = 0; r < 3; ++r) add(v + c, x + r, R(r, c));
        }
        add_quaternion(v + 3, x + 3);
        break;
      }
      case JointType::planar: {  // velocity in the child's axes
        using std::cos;
        using std::sin;
        const Traced c = cos(q[x + 2]), s = sin(q[x + 2]);
        add(v, x, c);
        add(v, x + 1, s);
        add(v + 1, x, -s);
        add(v + 1, x + 1, c);
        add(v + 2, x + 2, Traced(1));
        break;
      }
      default:
        for (int k = 0; k < row.nv; ++k) add(v + k, x + k, Traced(1));
    }
  }
  return directions;
}

MatrixX<Traced> jacobian(const VectorX<Traced>& y, const std::vector<Direction>& directions) {
  Graph& graph = Recording::graph();
  std::vector<int> roots;
  for (const Traced& x : y) roots.push_back(x.node());
  Dependence dependence(graph, roots, directions);
  // Graph colouring: a direction joins the first group that affects none of its roots and seeds
  // none of its nodes.
  struct Group {
    Direction seed;
    std::vector<int> direction_of_root;
  };
  std::vector<Group> groups;
  const auto fits = [&](const Group& group, std::size_t d) {
    for (std::size_t r = 0; r < roots.size(); ++r) {
      if (group.direction_of_root[r] >= 0 && dependence.depends(roots[r], d)) return false;
    }
    for (const auto& [node, derivative] : directions[d]) {
      for (const auto& [other, known] : group.seed) {
        if (node == other) return false;
      }
    }
    return true;
  };
  for (std::size_t d = 0; d < directions.size(); ++d) {
    std::size_t g = 0;
    while (g < groups.size() && !fits(groups[g], d)) ++g;
    if (g == groups.size()) groups.push_back({{}, std::vector<int>(roots.size(), -1)});
    Group& group = groups[g];
    group.seed.insert(group.seed.end(), directions[d].begin(), directions[d].end());
    for (std::size_t r = 0; r < roots.size(); ++r) {
      if (dependence.depends(roots[r], d)) group.direction_of_root[r] = static_cast<int>(d);
    }
  }
  MatrixX<Traced> J =
      MatrixX<Traced>::Constant(y.size(), static_cast<Eigen::Index>(directions.size()), Traced(0));
  for (const Group& group : groups) {
    const std::vector<int> column = differentiate(graph, roots, group.seed);
    for (Eigen::Index r = 0; r < y.size(); ++r) {
      const int d = group.direction_of_root[at(r)];
      if (d >= 0) J(r, d) = Traced::of_node(graph, column[at(r)]);
    }
  }
  return J;
}

}  // namespace limb::codegen
