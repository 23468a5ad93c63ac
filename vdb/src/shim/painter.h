// What light does on its way through water, glass and clay.
#ifndef MENISCUS_VDB_PAINTER_H
#define MENISCUS_VDB_PAINTER_H

#include "light.h"

namespace meniscus {

constexpr double WATER_INDEX = 1.333; // refractive index of water, visible light
constexpr int MAX_BOUNCES = 10;

// What is left of light after crossing water as thick as a fifth of the shot, and the light it scatters.
const Vec3 WATER_CLEAR(0.22, 0.62, 0.86);
const Vec3 WATER_BODY(0.03, 0.23, 0.50);
const Vec3 GLASS_TINT(0.955, 0.975, 0.98);
const Vec3 GLASS_RIM(0.22, 0.28, 0.32);
const Vec3 FOAM(0.93, 0.96, 0.98);

// Reflectance of a dielectric for unpolarised light (Fresnel).
inline double fresnel(double cos_in, double ratio, double& cos_out)
{
    const double sin2 = ratio * ratio * (1.0 - cos_in * cos_in);
    if (sin2 >= 1.0) return 1.0;
    cos_out = std::sqrt(1.0 - sin2);
    const double s = (ratio * cos_in - cos_out) / (ratio * cos_in + cos_out);
    const double p = (cos_in - ratio * cos_out) / (cos_in + ratio * cos_out);
    return 0.5 * (s * s + p * p);
}

class Painter
{
public:
    Painter(const mv_picture& picture, const FloorLight& floor)
        : floor_(floor), target_(picture.target), size_(picture.scene_size)
    {
        for (int c = 0; c < 3; ++c) absorption_[c] = -std::log(WATER_CLEAR[c]) / (0.2 * size_);
    }

    // Light that arrives along the ray from the camera.
    Vec3 operator()(Tracer& tracer, Vec3 origin, Vec3 direction) const
    {
        Vec3 light(0.0), through(1.0);
        bool in_water = false;
        double crossed = 0.0; // along the present straight line
        tracer.aim(origin, direction, -1);
        for (int bounce = 0; bounce < MAX_BOUNCES && through[1] > 0.01; ++bounce) {
            const auto hit = tracer.next();
            cross_foam(tracer, crossed, hit ? hit->distance : INFINITY, light, through);
            if (!hit) break;
            if (in_water) cross_water(hit->distance - crossed, light, through);
            if (hit->surface < 0) return light + times(through, floor(*hit, direction));
            crossed = hit->distance;
            if (hit->material == MV_CLAY) return light + times(through, clay(tracer, *hit));
            if (hit->material == MV_GLASS) {
                cross_glass(*hit, direction, light, through);
            } else {
                const Vec3 straight = direction;
                in_water = cross_surface(*hit, direction, light, through);
                tracer.aim(hit->point, direction, hit->surface);
                // What is thinner than the tracer skips lets the ray through as it came.
                if (tracer.begins_inside(hit->surface) != in_water) {
                    in_water = !in_water;
                    direction = straight;
                    tracer.aim(hit->point, direction, hit->surface);
                }
                crossed = 0.0;
            }
        }
        return light + times(through, backdrop(direction));
    }

private:
    // Foam is white, and lit from above and by the key light.
    void cross_foam(Tracer& tracer, double from, double to, Vec3& light, Vec3& through) const
    {
        Vec3 normal(0.0, 1.0, 0.0);
        const double kept = tracer.through_foam(from, to, normal);
        if (kept == 1.0) return;
        const double lit = 0.62 + 0.16 * normal[1] + 0.22 * std::max(0.0, normal.dot(KEY));
        light += times(through, FOAM) * ((1.0 - kept) * lit);
        through *= kept;
    }

    void cross_water(double distance, Vec3& light, Vec3& through) const
    {
        for (int c = 0; c < 3; ++c) {
            const double kept = std::exp(-absorption_[c] * distance);
            light[c] += through[c] * (1.0 - kept) * WATER_BODY[c];
            through[c] *= kept;
        }
    }

    // A thin shell: the ray goes straight on, rims reflect and darken.
    void cross_glass(const Hit& hit, const Vec3& direction, Vec3& light, Vec3& through) const
    {
        const double facing = std::abs(hit.normal.dot(direction));
        const double rim = std::pow(1.0 - facing, 3.0);
        const double reflected = 0.035 + 0.45 * rim;
        const Vec3 mirror = direction - hit.normal * (2.0 * hit.normal.dot(direction));
        light += times(through, studio(mirror)) * reflected;
        through = times(through, mix(GLASS_TINT, GLASS_RIM, rim)) * (1.0 - reflected);
    }

    // Refraction at the liquid's surface; returns whether the ray goes on inside.
    bool cross_surface(const Hit& hit, Vec3& direction, Vec3& light, Vec3& through) const
    {
        const bool entering = hit.entering;
        Vec3 n = entering ? hit.normal : -hit.normal;
        // A smoothed normal may point away from a ray that grazes the surface: let it graze.
        const double away = n.dot(direction);
        if (away > -1e-3) n = unit(n - direction * (away + 1e-3));
        const double ratio = entering ? 1.0 / WATER_INDEX : WATER_INDEX;
        const double cos_in = std::min(1.0, -n.dot(direction));
        double cos_out = 0.0;
        const double reflected = fresnel(cos_in, ratio, cos_out);
        const Vec3 mirror = unit(direction + n * (2.0 * cos_in));
        if (reflected >= 1.0) {
            direction = mirror;
            return !entering;
        }
        light += times(through, studio(mirror)) * reflected;
        through *= 1.0 - reflected;
        direction = unit(direction * ratio + n * (ratio * cos_in - cos_out));
        return entering;
    }

    Vec3 clay(Tracer& tracer, const Hit& hit) const
    {
        const Vec3 n = hit.entering ? hit.normal : -hit.normal;
        const Vec3 at = hit.point + n * (1.5 * hit.voxel);
        const double key = std::max(0.0, n.dot(KEY));
        const double lit = key > 0.0 ? key * tracer.openness(at, KEY) : 0.0;
        const double sky = 0.35 + 0.25 * n[1];
        return hit.colour * (0.75 * lit + sky);
    }

    Vec3 floor(const Hit& hit, const Vec3& direction) const
    {
        const double dx = hit.point[0] - target_[0], dz = hit.point[2] - target_[2];
        const double fade = smooth(0.6 * size_, 2.5 * size_, std::sqrt(dx * dx + dz * dz));
        const double light = mix(floor_(hit.point), 1.0, fade);
        return mix(Vec3(0.62, 0.64, 0.66), backdrop(direction), fade) * (0.25 + 0.75 * light);
    }

    const FloorLight& floor_;
    Vec3 target_;
    double size_;
    Vec3 absorption_;
};

} // namespace meniscus
#endif
