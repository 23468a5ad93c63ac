// The host's side of plugin/include/meniscus.h, as far as a force needs it. Where a plugin asks for more, it is told so.
#include "plugin_force.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace meniscus {
namespace {

constexpr int LEAF = 8;

// A descriptor of an array of descriptors, whose `size` is the stride.
template <class T> const T &at(const T *first, uint32_t index) {
    const char *bytes = reinterpret_cast<const char *>(first) + size_t(index) * first->size;
    return *reinterpret_cast<const T *>(bytes);
}

std::string text_of(const char *text) { return text ? text : ""; }

bool is_particles(const mns_port_t &port) {
    return port.carries == MNS_GEOMETRY && port.owner == MNS_OF_OBJECT &&
           (!port.name || std::string("particles") == port.name);
}

// A dense field as leaves.
struct Grid {
    std::vector<int32_t> origins;
    std::vector<std::vector<float>> values; // per component [leaf][512]
    mns_grid_t view{};

    explicit Grid(const Field &field) {
        std::array<int, 3> size{};
        for (const Dense &dense : field.components)
            for (int c = 0; c < 3; ++c) size[c] = std::max(size[c], dense.size[c]);
        for (int x = 0; x < size[0]; x += LEAF)
            for (int y = 0; y < size[1]; y += LEAF)
                for (int z = 0; z < size[2]; z += LEAF) origins.insert(origins.end(), {x, y, z});
        for (const Dense &dense : field.components) values.push_back(leaves(dense));
        view.size = sizeof view;
        view.element = MNS_F32;
        view.components = uint32_t(field.components.size());
        view.sampling = field.sampling;
        view.leaf_count = origins.size() / 3;
        view.origins = origins.data();
        for (int c = 0; c < 3; ++c) {
            view.index_to_world[5 * c] = field.voxel;
            // Integer coordinates are the middles of voxels.
            view.index_to_world[12 + c] = field.corner[c] + field.voxel / 2;
        }
        view.index_to_world[15] = 1;
        for (size_t c = 0; c < values.size(); ++c) view.values[c] = values[c].data();
    }

    std::vector<float> leaves(const Dense &dense) const {
        std::vector<float> out(origins.size() / 3 * MNS_LEAF_SIZE, 0.0f);
        for (size_t leaf = 0; leaf < origins.size() / 3; ++leaf)
            for (int n = 0; n < int(MNS_LEAF_SIZE); ++n) {
                const int x = origins[3 * leaf] + (n >> 6), y = origins[3 * leaf + 1] + (n >> 3 & 7);
                const int z = origins[3 * leaf + 2] + (n & 7);
                if (x < dense.size[0] && y < dense.size[1] && z < dense.size[2])
                    out[leaf * MNS_LEAF_SIZE + n] = dense.values[(size_t(z) * dense.size[1] + y) * dense.size[0] + x];
            }
        return out;
    }
};

} // namespace

// What one call of the plugin sees; its context's `host` points here.
struct PluginForce::Call {
    PluginForce &force;
    const Moment &moment;
    std::function<bool()> cancelled;
    std::vector<Grid> grids;
    std::vector<std::string> names;
    std::vector<float> dv;
    std::array<mns_attribute_t, 3> attributes{};
    mns_geometry_t points{};
    std::vector<mns_value_t> params;
    std::string failure;
    mns_context_t context{};

    Call(PluginForce &force, const Moment &moment, Particles &particles, const std::vector<Field> &fields,
         std::function<bool()> cancelled)
        : force(force), moment(moment), cancelled(std::move(cancelled)), dv(particles.P.size()) {
        for (const Field &field : fields) {
            names.push_back(field.name);
            grids.emplace_back(field);
        }
        attributes = {attribute("P", MNS_POSITION, particles.P), attribute("v", MNS_VECTOR, particles.v),
                      attribute("dv", MNS_VECTOR, dv)};
        points.size = sizeof points;
        points.primitive = MNS_POINTS;
        points.point_count = points.primitive_count = dv.size() / 3;
        points.attributes = attributes.data();
        points.attribute_count = uint32_t(attributes.size());
        for (const Setting &s : force.settings_)
            params.push_back({{s.numbers[0], s.numbers[1], s.numbers[2]}, s.text.c_str()});
        fill();
    }

    static mns_attribute_t attribute(const char *name, int meaning, const std::vector<float> &values) {
        mns_attribute_t out{};
        out.size = sizeof out;
        out.on = MNS_ON_POINTS;
        out.name = name;
        out.element = MNS_F32;
        out.components = 3;
        out.meaning = meaning;
        out.count = values.size() / 3;
        out.stride = 3 * sizeof(float);
        out.values = values.data();
        return out;
    }

    static Call &of(mns_context_t *ctx) { return *static_cast<Call *>(ctx->host); }
    const mns_port_t &port(uint32_t number) const { return at(force.node_->ports, number); }

    const mns_grid_t *grid(uint32_t number) const {
        const mns_port_t &wanted = port(number);
        for (size_t i = 0; i < grids.size(); ++i)
            if (wanted.carries == MNS_GRID && wanted.owner == MNS_OF_OBJECT && names[i] == text_of(wanted.name))
                return &grids[i].view;
        return nullptr;
    }

    mns_status_t refuse(const std::string &why) {
        failure = why;
        return MNS_UNSUPPORTED;
    }

    void fill();
};

void PluginForce::Call::fill() {
    mns_context_t &c = context;
    c.size = sizeof c;
    c.stage = MNS_PREDICT;
    c.threads = 1;
    c.host = this;
    c.node = force.id_.c_str();
    c.object = moment.object.c_str();
    c.time = moment.time;
    c.dt = c.dt_next = c.dt_kick = c.frame_left = moment.dt;
    c.fps = moment.fps;
    c.cfl = 1;
    c.frame = moment.frame;
    c.param_count = uint32_t(params.size());
    c.params = params.data();
    c.progress = [](mns_context_t *ctx, double) -> int32_t { return of(ctx).cancelled(); };
    c.log = [](mns_context_t *ctx, int32_t level, const char *sentence) {
        if (level > MNS_LOG_DEBUG) of(ctx).force.said_.push_back(text_of(sentence));
    };
    c.fail = [](mns_context_t *ctx, mns_status_t status, int32_t, const char *sentence) {
        of(ctx).failure = text_of(sentence);
        return status;
    };
    c.measure = [](mns_context_t *, const char *, uint32_t, const double *) {};
    c.measure_item = [](mns_context_t *, uint32_t, uint32_t, const char *, uint32_t, const double *) {};
    c.solved = [](mns_context_t *, const mns_solve_t *) {};
    c.items = [](mns_context_t *ctx, uint32_t port) -> uint32_t {
        return is_particles(of(ctx).port(port)) || of(ctx).grid(port);
    };
    c.item_name = [](mns_context_t *ctx, uint32_t, uint32_t) { return of(ctx).context.object; };
    c.item_kick = [](mns_context_t *ctx, uint32_t, uint32_t) { return ctx->dt_kick; };
    c.grid = [](mns_context_t *ctx, uint32_t port, uint32_t) { return of(ctx).grid(port); };
    c.geometry = [](mns_context_t *ctx, uint32_t port, uint32_t) -> const mns_geometry_t * {
        return is_particles(of(ctx).port(port)) ? &of(ctx).points : nullptr;
    };
    c.table = [](mns_context_t *, uint32_t, uint32_t) -> const mns_table_t * { return nullptr; };
    c.shape_grid = [](mns_context_t *ctx, uint32_t, uint32_t, const mns_grid_t *) -> const mns_grid_t * {
        of(ctx).refuse("it makes a grid, and the adapter takes back `dv` of particles alone");
        return nullptr;
    };
    c.shape_geometry = [](mns_context_t *ctx, uint32_t, uint32_t, const mns_geometry_t *) -> const mns_geometry_t * {
        of(ctx).refuse("it makes geometry, and the adapter takes back `dv` of particles alone");
        return nullptr;
    };
    c.shape_table = [](mns_context_t *ctx, uint32_t, uint32_t, const mns_table_t *) -> const mns_table_t * {
        of(ctx).refuse("it makes a table, and the adapter takes back `dv` of particles alone");
        return nullptr;
    };
    c.edit_grid = [](mns_context_t *ctx, uint32_t, uint32_t) -> const mns_grid_t * {
        of(ctx).refuse("it changes a grid, and the adapter takes back `dv` of particles alone");
        return nullptr;
    };
    c.edit_attribute = [](mns_context_t *ctx, uint32_t port, uint32_t, const mns_attribute_t *shape) -> const mns_attribute_t * {
        Call &call = of(ctx);
        const bool is_dv = is_particles(call.port(port)) && text_of(shape->name) == "dv" && shape->element == MNS_F32;
        if (!is_dv || shape->components != 3) {
            call.refuse("it changes `" + text_of(shape->name) + "`, and the adapter takes back `dv` of particles alone");
            return nullptr;
        }
        call.attributes[2].writable = call.dv.data();
        return &call.attributes[2];
    };
    c.edit_array = [](mns_context_t *ctx, uint32_t, uint32_t, const mns_array_t *) -> const mns_array_t * {
        of(ctx).refuse("it changes a table, and the adapter takes back `dv` of particles alone");
        return nullptr;
    };
    c.place_grid = [](mns_context_t *ctx, uint32_t, uint32_t, const double *) {
        return of(ctx).refuse("it moves a grid, and the adapter takes back `dv` of particles alone");
    };
    c.clear = [](mns_context_t *, uint32_t, uint32_t) -> mns_status_t { return MNS_OK; };
    // Houdini's own solvers choose the length of substeps.
    c.suggest_dt = [](mns_context_t *, double) {};
    c.reject_dt = [](mns_context_t *ctx, double) -> mns_status_t {
        of(ctx).failure = "the substep is too long for it; raise the substeps of the DOP network";
        return MNS_DT_REJECTED;
    };
    c.extension = [](mns_context_t *, const char *id, uint32_t) -> const void * {
        return std::string("mns.device") == id ? "cpu" : nullptr;
    };
}

PluginForce::PluginForce(const std::string &library, const std::string &node) : id_(node) {
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw Refused("cannot open the plugin " + library + ": " + text_of(dlerror()));
    plugin_ = static_cast<const mns_plugin_t *>(dlsym(library_, "mns_plugin"));
    std::string why;
    if (!plugin_) why = library + " is no Meniscus plugin: it has no symbol mns_plugin";
    else if (plugin_->abi_major != MNS_ABI_MAJOR) why = library + " was built for another major version of the ABI; build it anew";
    else if (plugin_->layout_hash != MNS_LAYOUT_HASH) why = library + " lays out its structs otherwise; build it with the same meniscus.h";
    for (uint32_t n = 0; why.empty() && n < plugin_->node_count; ++n) {
        if (text_of(at(plugin_->nodes, n).id) != node) continue;
        node_ = &at(plugin_->nodes, n);
        if (node_->kind != MNS_NODE_FORCE || !(node_->stages & MNS_BIT(MNS_PREDICT)))
            why = node + " is no force that acts in predict; cook it with the asset Meniscus Cook";
        for (uint32_t p = 0; p < node_->param_count; ++p) {
            const mns_param_t &param = at(node_->params, p);
            const double *number = param.default_number;
            std::string text = text_of(param.default_text);
            if (param.type == MNS_MENU) text = text_of(param.menu[size_t(number[0])].token);
            settings_.push_back({{number[0], number[1], number[2]}, text});
        }
        Particles none;
        Moment start;
        Call call(*this, start, none, {}, [] { return false; });
        call.context.stage = -1;
        if (why.empty() && plugin_->create(&call.context, n, &instance_) != MNS_OK) why = node + ": " + call.failure;
    }
    if (why.empty() && !node_) why = library + " has no node " + node + "; meniscus nodes lists them";
    if (!why.empty()) {
        dlclose(library_);
        throw Refused(why);
    }
}

PluginForce::~PluginForce() {
    plugin_->destroy(instance_);
    dlclose(library_);
}

void PluginForce::set(const std::string &settings) {
    std::istringstream words(settings);
    for (std::string word; words >> word;) {
        const size_t split = word.find('=');
        const std::string name = word.substr(0, split), value = split == word.npos ? "" : word.substr(split + 1);
        uint32_t p = 0;
        while (p < node_->param_count && name != text_of(at(node_->params, p).name)) ++p;
        if (p == node_->param_count || value.empty())
            throw Refused(id_ + ": `" + word + "` sets no parameter of it; write name=value");
        const mns_param_t &param = at(node_->params, p);
        Setting &setting = settings_[p];
        if (param.type == MNS_STRING || param.type == MNS_FILE) {
            setting.text = value;
        } else if (param.type == MNS_MENU) {
            uint32_t entry = 0;
            while (entry < param.menu_count && value != text_of(param.menu[entry].token)) ++entry;
            if (entry == param.menu_count) throw Refused(id_ + ": " + name + " has no entry " + value);
            setting = {{double(entry), 0, 0}, value};
        } else {
            std::istringstream numbers(value);
            const int count = param.type == MNS_VECTOR3 ? 3 : 1;
            char comma = ',';
            bool good = true;
            for (int c = 0; c < count && good; ++c) good = (c == 0 || (numbers >> comma && comma == ',')) && numbers >> setting.numbers[c];
            if (!good || !(numbers >> std::ws).eof())
                throw Refused(id_ + ": " + name + " takes " + (count == 3 ? "three numbers: x,y,z" : "a number"));
        }
    }
}

void PluginForce::check_ports(const std::vector<Field> &fields) const {
    for (uint32_t p = 0; p < node_->port_count; ++p) {
        const mns_port_t &port = at(node_->ports, p);
        // What has no name stands for whatever is there.
        if (!port.required || !port.name || !(port.access[MNS_PREDICT] & MNS_READ) || is_particles(port)) continue;
        const auto has = [&](const Field &field) { return port.carries == MNS_GRID && port.owner == MNS_OF_OBJECT && field.name == text_of(port.name); };
        if (std::none_of(fields.begin(), fields.end(), has))
            throw Refused(id_ + " needs `" + text_of(port.name) + "`, which is no field of the object; cook it with the asset Meniscus Cook");
    }
}

bool PluginForce::apply(const Moment &moment, Particles &particles, const std::vector<Field> &fields,
                        const std::function<bool()> &cancelled) {
    check_ports(fields);
    said_.clear();
    Call call(*this, moment, particles, fields, cancelled);
    const mns_status_t status = plugin_->run(instance_, &call.context);
    if (status == MNS_CANCELLED) return false;
    if (status != MNS_OK && status != MNS_NOT_CONVERGED)
        throw Refused(id_ + ": " + (call.failure.empty() ? "it failed without a sentence" : call.failure));
    if (status == MNS_NOT_CONVERGED) said_.push_back(call.failure);
    for (float change : call.dv)
        if (!(std::abs(change) < std::numeric_limits<float>::max())) throw Refused(id_ + ": it gave `dv` that is not finite");
    for (size_t i = 0; i < call.dv.size(); ++i) particles.v[i] += call.dv[i];
    return true;
}

} // namespace meniscus
