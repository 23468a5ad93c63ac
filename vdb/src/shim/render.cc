// Pictures of level sets.

#include "guard.h"
#include "painter.h"

#include <atomic>
#include <initializer_list>
#include <thread>

namespace meniscus {
namespace {

struct Camera {
    Vec3 position, forward, right, up;

    Camera(const mv_camera& c, const mv_picture& picture) : position(c.position)
    {
        forward = unit(Vec3(c.look_at) - position);
        right = unit(forward.cross(Vec3(c.up)));
        up = right.cross(forward);
        const double half = std::tan(0.5 * c.fov_degrees * 3.14159265358979323846 / 180.0);
        up *= half;
        right *= half * picture.width / picture.height;
    }
    // (u, v) in -1..1, v upwards.
    Vec3 through(double u, double v) const { return unit(forward + right * u + up * v); }
};

double display(double linear)
{
    // Highlights roll off instead of clipping.
    const double c = linear < 0.7 ? linear : 0.7 + 0.3 * (1.0 - std::exp(-(linear - 0.7) / 0.3));
    return c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1.0 / 2.4) - 0.055;
}

// A picture in the making: display colours, row by row.
struct Canvas {
    int width, height;
    std::vector<Vec3> pixels;

    Canvas(int w, int h) : width(w), height(h), pixels(size_t(w) * size_t(h)) {}
    Vec3& at(int x, int y)
    {
        x = std::min(std::max(x, 0), width - 1);
        y = std::min(std::max(y, 0), height - 1);
        return pixels[size_t(y) * size_t(width) + size_t(x)];
    }
    // Largest difference of a channel between the given pixels.
    static double contrast(std::initializer_list<Vec3> colours)
    {
        double most = 0.0;
        for (int k = 0; k < 3; ++k) {
            double low = 1e9, high = -1e9;
            for (const Vec3& c : colours) low = std::min(low, c[k]), high = std::max(high, c[k]);
            most = std::max(most, high - low);
        }
        return most;
    }
};

// Every second pixel of every second row first; the others only where those differ, else their mean; at last
// more rays where neighbours still differ. Each pass reads only what the passes before it wrote.
class Studio
{
public:
    Studio(const Scene& scene, const mv_camera& camera, const mv_picture& picture)
        : scene_(scene), picture_(picture), floor_(picture), camera_(camera, picture), painter_(picture, floor_),
          first_(picture.width, picture.height)
    {
        each_row(FLOOR_MAP, [&](Tracer& t, int row) { floor_.row(t, row); });
        floor_.blur();
    }

    void paint(uint8_t* rgb)
    {
        const int w = picture_.width, h = picture_.height;
        each_row((h + 1) / 2, [&](Tracer& t, int row) {
            for (int x = 0; x < w; x += 2) first_.at(x, 2 * row) = shoot(t, x + 0.5, 2 * row + 0.5);
        });
        Canvas coarse = first_;
        each_row(h, [&](Tracer& t, int y) { fill(t, coarse, y); });
        each_row(h, [&](Tracer& t, int y) {
            for (int x = 0; x < w; ++x) put(smoothed(t, x, y), rgb + (size_t(y) * size_t(w) + size_t(x)) * 3);
        });
    }

private:
    static constexpr double PLAIN = 0.012; // differences below are interpolated over
    static constexpr double EDGE = 0.07;   // differences above get more rays

    Vec3 shoot(Tracer& t, double x, double y) const
    {
        const double u = 2.0 * x / picture_.width - 1.0, v = 1.0 - 2.0 * y / picture_.height;
        const Vec3 light = painter_(t, camera_.position, camera_.through(u, v));
        return Vec3(display(light[0]), display(light[1]), display(light[2]));
    }

    // The pixels of a row that the coarse pass left out.
    void fill(Tracer& t, Canvas& coarse, int y)
    {
        const int last_x = (first_.width - 1) & ~1, last_y = (first_.height - 1) & ~1;
        const int above = y & ~1, below = std::min(above + 2 * (y & 1), last_y);
        for (int x = 0; x < first_.width; ++x) {
            if (!(x & 1) && !(y & 1)) continue;
            const int left = x & ~1, right = std::min(left + 2 * (x & 1), last_x);
            const Vec3 a = coarse.at(left, above), b = coarse.at(right, above);
            const Vec3 c = coarse.at(left, below), d = coarse.at(right, below);
            first_.at(x, y) = Canvas::contrast({a, b, c, d}) < PLAIN ? (a + b + c + d) * 0.25 : shoot(t, x + 0.5, y + 0.5);
        }
    }

    Vec3 smoothed(Tracer& t, int x, int y)
    {
        const Vec3 own = first_.at(x, y);
        const double contrast = Canvas::contrast(
            {own, first_.at(x - 1, y), first_.at(x + 1, y), first_.at(x, y - 1), first_.at(x, y + 1)});
        if (contrast < EDGE) return own;
        return (own + shoot(t, x + 0.17, y + 0.33) + shoot(t, x + 0.83, y + 0.17) + shoot(t, x + 0.5, y + 0.83)) * 0.25;
    }

    // Runs body(tracer, row) for every row on as many threads as allowed; rows do not depend on each other.
    template<typename F>
    void each_row(int rows, F&& body)
    {
        std::atomic<int> next{0};
        auto work = [&] {
            Tracer tracer(scene_, picture_.floor_y);
            for (int row = next++; row < rows && !halted(); row = next++) body(tracer, row);
        };
        std::vector<std::thread> others;
        for (int t = 1; t < picture_.threads; ++t) others.emplace_back(work);
        work();
        for (auto& t : others) t.join();
    }

    bool halted() const { return __atomic_load_n(picture_.halt, __ATOMIC_RELAXED) != 0; }

    static void put(const Vec3& colour, uint8_t* rgb)
    {
        for (int k = 0; k < 3; ++k) rgb[k] = uint8_t(255.0 * std::min(1.0, std::max(0.0, colour[k])) + 0.5);
    }

    const Scene& scene_;
    const mv_picture& picture_;
    FloorLight floor_;
    Camera camera_;
    Painter painter_;
    Canvas first_;
};

} // namespace
} // namespace meniscus

extern "C" int mv_render(const mv_surface* surfaces, size_t count, const mv_camera* camera,
                         const mv_picture* picture, uint8_t* rgb, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        const meniscus::Scene scene(surfaces, count, picture->threads);
        meniscus::Studio(scene, *camera, *picture).paint(rgb);
    });
}
