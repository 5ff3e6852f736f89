#include "limb/legged/terrain.hpp"

#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/math/noise_generator.hpp"

namespace limb {

Ground block_ground(const BlockField& f, std::uint64_t seed, const ContactSurface& surface) {
  const char* call = "block_ground";
  for (const auto& [name, value] : {std::pair{"size", f.size},
                                    {"height", f.height},
                                    {"length", f.length},
                                    {"width", f.width}}) {
    check_positive(call, name, value);
  }
  check_finite(call, "begin", f.begin);
  const double rows = std::ceil(f.length / f.size), columns = std::ceil(f.width / f.size);
  if (!(rows * columns <= 1e5)) {
    fail(call, "size", to_text(f.size) + " m", "at most 100 000 blocks in all");
  }
  // The plane below the lowest block.
  const double floor = -2 * f.height, far = 50;
  // Blocks overlap a little: a foot that slides down the side of one must hit the top of the next,
  // not the gap of zero width between them.
  const double overlap = std::min(5e-3, f.size / 10);
  Ground ground = Ground::plane(surface, floor);
  const auto box = [&](double x0, double x1, double y0, double y1, double top) {
    ground.add_box({Matrix3<double>::Identity(), {(x0 + x1) / 2, (y0 + y1) / 2, (floor + top) / 2}},
                   {x1 - x0 + 2 * overlap, y1 - y0 + 2 * overlap, top - floor}, surface);
  };
  const double end = f.begin + rows * f.size, side = columns * f.size / 2;
  box(f.begin - far, f.begin, -far, far, 0);
  box(end, end + far, -far, far, 0);
  box(f.begin, end, side, far, 0);
  box(f.begin, end, -far, -side, 0);
  NoiseGenerator noise(seed);
  for (int i = 0; i < static_cast<int>(rows); ++i) {
    for (int k = 0; k < static_cast<int>(columns); ++k) {
      const double x = f.begin + i * f.size, y = k * f.size - side;
      box(x, x + f.size, y, y + f.size, f.height * (2 * noise.uniform() - 1));
    }
  }
  return ground;
}

double ground_height(const Ground& ground, double x, double y) {
  double height = -std::numeric_limits<double>::infinity();
  for (const auto& plane : ground.half_spaces()) {
    if (plane.normal.z() <= 0) continue;
    height = std::max(
        height, (plane.level - plane.normal.x() * x - plane.normal.y() * y) / plane.normal.z());
  }
  for (const auto& box : ground.boxes()) {
    const Vector3<double> p = box.X_WG.R.transpose() * (Vector3<double>(x, y, 0) - box.X_WG.p);
    if (std::abs(p.x()) > box.half.x() || std::abs(p.y()) > box.half.y()) continue;
    height = std::max(height, box.X_WG.p.z() + box.half.z());
  }
  for (const auto& field : ground.height_fields()) {
    height = std::max(height, field.height(x, y));
  }
  return height;
}

}  // namespace limb
