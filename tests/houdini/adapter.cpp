// Runs a force of a plugin through the adapter's part that needs no HDK: `adapter LIBRARY NODE SETTINGS DT [cancel]`. Two
// particles lie in a box of 10 x 9 x 20 voxels with the fields `surface` (centres) and `vel` (faces). Prints their velocities.
#include "plugin_force.h"

#include <cstdio>
#include <cstdlib>

using namespace meniscus;

// The value at (x, y, z) is x + 100 y + 10000 z and `more`.
static Dense numbered(int nx, int ny, int nz, float more) {
    Dense out;
    out.size = {nx, ny, nz};
    for (int z = 0; z < nz; ++z)
        for (int y = 0; y < ny; ++y)
            for (int x = 0; x < nx; ++x) out.values.push_back(float(x + 100 * y + 10000 * z) + more);
    return out;
}

int main(int count, char **words) {
    try {
        PluginForce force(words[1], words[2]);
        force.set(words[3]);
        Moment moment;
        moment.dt = std::atof(words[4]);
        const std::array<double, 3> corner{-1, 2, 0};
        std::vector<Field> fields;
        fields.push_back({"surface", MNS_CENTER, {numbered(10, 9, 20, 0)}, corner, 0.5});
        fields.push_back({"vel", MNS_FACE, {numbered(11, 9, 20, 0.25f), numbered(10, 10, 20, 0.5f), numbered(10, 9, 21, 0.75f)}, corner, 0.5});
        // In voxels (0, 0, 0) and (9, 8, 19).
        Particles particles{{-0.75f, 2.25f, 0.25f, 3.75f, 6.25f, 9.75f}, {1, 2, 3, 4, 5, 6}};
        const bool done = force.apply(moment, particles, fields, [&] { return count > 5; });
        for (float v : particles.v) std::printf("%.9g ", double(v));
        std::printf("%s %zu\n", done ? "done" : "cancelled", force.said().size());
    } catch (const Refused &refused) {
        std::printf("refused: %s\n", refused.what());
        return 1;
    }
}
