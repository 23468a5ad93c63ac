// What a ray meets: level sets through OpenVDB's hierarchical traversal, and the studio floor.
#ifndef MENISCUS_VDB_TRACE_H
#define MENISCUS_VDB_TRACE_H

#include "shim.h"

#include <openvdb/math/Vec3.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace meniscus {

using Vec3 = openvdb::math::Vec3<double>;

inline double mix(double a, double b, double t) { return a + (b - a) * t; }
inline Vec3 mix(const Vec3& a, const Vec3& b, double t) { return a + (b - a) * t; }
inline Vec3 unit(const Vec3& v)
{
    const double length = v.length();
    return length > 0.0 ? v / length : Vec3(0.0, 1.0, 0.0);
}
inline double smooth(double low, double high, double x)
{
    const double t = std::min(1.0, std::max(0.0, (x - low) / (high - low)));
    return t * t * (3.0 - 2.0 * t);
}

struct Hit {
    double distance;  // from where the ray was aimed
    int surface;      // number of the surface; -1: the floor
    int32_t material; // of the surface
    double voxel;     // of the surface, metres
    bool entering;    // from outside into the surface
    Vec3 point;
    Vec3 normal; // outwards
    Vec3 colour; // of clay
};

// The level sets of a picture.
class Scene
{
public:
    Scene(const mv_surface* surfaces, size_t count, int threads);
    ~Scene();

private:
    friend class Tracer;
    struct Grids;
    std::unique_ptr<Grids> grids_;
};

// Asks a scene; one per thread, since OpenVDB's accessors are not thread-safe.
class Tracer
{
public:
    Tracer(const Scene& scene, double floor);
    ~Tracer();

    // Starts a ray (unit direction). The surface `left`, on which it starts, is skipped for half a voxel.
    void aim(const Vec3& origin, const Vec3& direction, int left);

    // The next thing the ray meets. Asked again, it goes straight on behind that.
    std::optional<Hit> next();

    // Whether the ray is inside a surface where it begins, or behind what it skips there.
    bool begins_inside(int surface);

    // Share of light that comes straight through everything.
    double openness(const Vec3& origin, const Vec3& direction);

    // Share of light that comes through foam between two distances along the ray, and the normal of the foam that takes
    // most of the rest.
    double through_foam(double from, double to, Vec3& normal);

private:
    class Field;
    class Surface;
    class Foam;
    struct Cursor {
        double from;  // searched up to here
        double found; // next crossing; infinity: none
        bool known;
        bool outside; // whether the ray comes from outside to that crossing
    };
    double floor_ahead() const;
    Cursor& looked_ahead(int surface);
    Vec3 shading_normal(Surface& surface, const Vec3& at);

    std::vector<Surface> surfaces_;
    std::vector<Foam> foams_;
    std::vector<Cursor> cursors_;
    Vec3 origin_, direction_;
    double floor_;
    bool floor_met_ = false;
};

} // namespace meniscus
#endif
