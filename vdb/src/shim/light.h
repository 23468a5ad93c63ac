// The studio: what lights the shot and what stands behind it.
#ifndef MENISCUS_VDB_LIGHT_H
#define MENISCUS_VDB_LIGHT_H

#include "trace.h"

#include <cmath>
#include <iterator>

namespace meniscus {

constexpr int FLOOR_MAP = 72;       // texels along an edge of the floor's light map
constexpr double FLOOR_REACH = 1.1; // half edge of that map, in scene sizes
const Vec3 KEY = unit(Vec3(-0.55, 0.80, 0.45)); // towards the key light

inline Vec3 times(const Vec3& a, const Vec3& b) { return Vec3(a[0] * b[0], a[1] * b[1], a[2] * b[2]); }

// The seamless studio wall behind everything.
inline Vec3 backdrop(const Vec3& d)
{
    const double t = smooth(-0.25, 0.75, d[1]);
    return mix(Vec3(0.68, 0.70, 0.72), Vec3(0.18, 0.23, 0.29), t);
}

// A rectangular lamp with soft edges, seen in direction d.
inline double softbox(const Vec3& d, const Vec3& towards, double width, double height)
{
    const Vec3 z = unit(towards), x = unit(Vec3(0.0, 1.0, 0.0).cross(z)), y = z.cross(x);
    const double depth = d.dot(z);
    if (depth <= 0.0) return 0.0;
    const double u = std::abs(d.dot(x) / depth) / width, v = std::abs(d.dot(y) / depth) / height;
    return (1.0 - smooth(0.55, 1.15, u)) * (1.0 - smooth(0.55, 1.15, v));
}

// The studio as reflections see it: the backdrop, a large lamp at the upper left, a strip at the right.
inline Vec3 studio(const Vec3& d)
{
    const double lamps = 2.6 * softbox(d, KEY, 0.42, 0.55) + 1.4 * softbox(d, Vec3(0.95, 0.25, 0.35), 0.12, 0.9);
    return backdrop(d) + Vec3(lamps);
}

// How much light reaches each part of the floor, worked out once per picture.
class FloorLight
{
public:
    FloorLight(const mv_picture& picture) : light_(FLOOR_MAP * FLOOR_MAP, 1.0)
    {
        half_ = FLOOR_REACH * picture.scene_size;
        x0_ = picture.target[0] - half_;
        z0_ = picture.target[2] - half_;
        y_ = picture.floor_y;
    }

    void row(Tracer& tracer, int z)
    {
        const Vec3 sky[] = {KEY,
                            unit(KEY + Vec3(0.25, 0.0, 0.1)),
                            unit(KEY + Vec3(-0.1, 0.0, -0.25)),
                            unit(KEY + Vec3(-0.2, 0.2, 0.2)),
                            unit(Vec3(0.7, 0.5, 0.3)),
                            unit(Vec3(-0.3, 0.5, -0.7)),
                            unit(Vec3(0.4, 0.6, -0.6)),
                            unit(Vec3(0.1, 0.5, 0.8)),
                            Vec3(0.0, 1.0, 0.0)};
        for (int x = 0; x < FLOOR_MAP; ++x) {
            const double step = 2.0 * half_ / (FLOOR_MAP - 1);
            const Vec3 at(x0_ + x * step, y_ + 1e-4 * half_, z0_ + z * step);
            double sum = 0.0;
            for (const Vec3& d : sky) sum += tracer.openness(at, d);
            light_[size_t(z * FLOOR_MAP + x)] = sum / double(std::size(sky));
        }
    }

    void blur()
    {
        for (int pass = 0; pass < 2; ++pass) {
            const std::vector<double> from = light_;
            auto at = [&](int x, int z) {
                x = std::min(std::max(x, 0), FLOOR_MAP - 1);
                z = std::min(std::max(z, 0), FLOOR_MAP - 1);
                return from[size_t(z * FLOOR_MAP + x)];
            };
            for (int z = 0; z < FLOOR_MAP; ++z) {
                for (int x = 0; x < FLOOR_MAP; ++x) {
                    double sum = 4.0 * at(x, z);
                    sum += 2.0 * (at(x - 1, z) + at(x + 1, z) + at(x, z - 1) + at(x, z + 1));
                    sum += at(x - 1, z - 1) + at(x + 1, z - 1) + at(x - 1, z + 1) + at(x + 1, z + 1);
                    light_[size_t(z * FLOOR_MAP + x)] = sum / 16.0;
                }
            }
        }
    }

    double operator()(const Vec3& p) const
    {
        const double scale = (FLOOR_MAP - 1) / (2.0 * half_);
        const double u = (p[0] - x0_) * scale, v = (p[2] - z0_) * scale;
        if (!(u >= 0.0 && v >= 0.0 && u < FLOOR_MAP - 1 && v < FLOOR_MAP - 1)) return 1.0;
        const int x = int(u), z = int(v);
        const double* l = &light_[size_t(z * FLOOR_MAP + x)];
        return mix(mix(l[0], l[1], u - x), mix(l[FLOOR_MAP], l[FLOOR_MAP + 1], u - x), v - z);
    }

private:
    std::vector<double> light_;
    double half_, x0_, z0_, y_;
};

} // namespace meniscus
#endif
