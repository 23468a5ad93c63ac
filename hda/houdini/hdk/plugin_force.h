// A force of a Meniscus plugin, run by its C ABI on particles and dense fields. C++17, POSIX; needs no HDK.
#pragma once

#include "meniscus.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace meniscus {

// What is wrong, and what to do: one sentence.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Values of one component of a field, x fastest.
struct Dense {
    std::array<int, 3> size{};
    std::vector<float> values;
};

// A field on cubic voxels. A vector field at faces has one layer of faces more along each component's own axis.
struct Field {
    std::string name;
    int sampling = MNS_CENTER; // or MNS_FACE
    std::vector<Dense> components;
    std::array<double, 3> corner{}; // lower corner of voxel (0, 0, 0), m
    double voxel = 0;               // edge, m
};

// Particles of one object: [count][3] each.
struct Particles {
    std::vector<float> P; // m
    std::vector<float> v; // m/s; the force changes it
};

// One moment of a simulation.
struct Moment {
    double time = 0, dt = 0, fps = 24; // s, s, 1/s
    int frame = 1;
    std::string object = "object";
};

// A parameter: numbers, or a text.
struct Setting {
    std::array<double, 3> numbers{};
    std::string text;
};

class PluginForce {
public:
    // Opens a shared library and makes an instance of one of its nodes. Throws Refused.
    PluginForce(const std::string &library, const std::string &node);
    ~PluginForce();
    PluginForce(const PluginForce &) = delete;
    PluginForce &operator=(const PluginForce &) = delete;

    // `name=1`, `name=1,2,3` or `name=word`, a line or a blank apart; names and menus are checked. Throws Refused.
    void set(const std::string &settings);

    // Adds to `v` what the force does over `dt`. `cancelled` is asked now and then. False: it was cancelled, and
    // nothing has changed. Throws Refused with the plugin's own sentence.
    bool apply(const Moment &moment, Particles &particles, const std::vector<Field> &fields,
               const std::function<bool()> &cancelled = [] { return false; });

    // What the plugin said to the artist in the last call.
    const std::vector<std::string> &said() const { return said_; }

private:
    struct Call;
    void check_ports(const std::vector<Field> &fields) const;

    std::string id_;
    void *library_ = nullptr;
    const mns_plugin_t *plugin_ = nullptr;
    const mns_node_t *node_ = nullptr;
    mns_instance_t *instance_ = nullptr;
    std::vector<Setting> settings_;
    std::vector<std::string> said_;
};

} // namespace meniscus
