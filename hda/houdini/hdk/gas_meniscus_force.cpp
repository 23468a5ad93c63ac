// NEVER COMPILED AGAINST THE HDK, see gas_meniscus_force.h.
#include "gas_meniscus_force.h"

#include <GA/GA_Handle.h>
#include <GA/GA_Iterator.h>
#include <GU/GU_Detail.h>
#include <PRM/PRM_Include.h>
#include <SIM/SIM_DopDescription.h>
#include <SIM/SIM_Engine.h>
#include <SIM/SIM_GeometryCopy.h>
#include <SIM/SIM_Object.h>
#include <SIM/SIM_RawField.h>
#include <SIM/SIM_ScalarField.h>
#include <SIM/SIM_VectorField.h>
#include <UT/UT_DSOVersion.h>
#include <UT/UT_Interrupt.h>

#include <cstdlib>

void initializeSIM(void *) { IMPLEMENT_DATAFACTORY(GAS_MeniscusForce); }

GAS_MeniscusForce::GAS_MeniscusForce(const SIM_DataFactory *factory) : BaseClass(factory) {}
GAS_MeniscusForce::~GAS_MeniscusForce() = default;

const SIM_DopDescription *GAS_MeniscusForce::getDopDescription() {
    static PRM_Name plugin("plugin", "Plugin"), node("node", "Node Type"), settings("settings", "Settings");
    static PRM_Name geometry(GAS_NAME_GEOMETRY, "Geometry"), surface(GAS_NAME_SURFACE, "Surface Field");
    static PRM_Name velocity(GAS_NAME_VELOCITY, "Velocity Field");
    static PRM_Default plugin_default(0, "$MENISCUS_PLUGIN"), node_default(0, "example.drag"), settings_default(0, "");
    static PRM_Default geometry_default(0, "Geometry"), surface_default(0, "surface"), velocity_default(0, "vel");
    static PRM_Template templates[] = {
        PRM_Template(PRM_FILE, 1, &plugin, &plugin_default),        PRM_Template(PRM_STRING, 1, &node, &node_default),
        PRM_Template(PRM_STRING, 1, &settings, &settings_default),  PRM_Template(PRM_STRING, 1, &geometry, &geometry_default),
        PRM_Template(PRM_STRING, 1, &surface, &surface_default),    PRM_Template(PRM_STRING, 1, &velocity, &velocity_default),
        PRM_Template(),
    };
    static SIM_DopDescription description(true, "gasmeniscusforce", "Gas Meniscus Force", "Solver", classname(), templates);
    setGasDescription(description);
    return &description;
}

// The values of a field, x fastest.
static meniscus::Dense dense(const SIM_RawField &raw) {
    const UT_VoxelArrayF &voxels = *raw.field();
    meniscus::Dense out;
    out.size = {voxels.getXRes(), voxels.getYRes(), voxels.getZRes()};
    out.values.reserve(size_t(out.size[0]) * out.size[1] * out.size[2]);
    for (int z = 0; z < out.size[2]; ++z)
        for (int y = 0; y < out.size[1]; ++y)
            for (int x = 0; x < out.size[0]; ++x) out.values.push_back(voxels(x, y, z));
    return out;
}

void GAS_MeniscusForce::gather(SIM_Object *object, std::vector<meniscus::Field> &fields) {
    const auto place = [](meniscus::Field &field, const UT_Vector3 &corner, const UT_Vector3 &voxel) {
        field.corner = {corner.x(), corner.y(), corner.z()};
        field.voxel = voxel.x();
    };
    if (const SIM_ScalarField *surface = getScalarField(object, GAS_NAME_SURFACE, true)) {
        meniscus::Field field;
        field.name = "surface";
        field.components.push_back(dense(*surface->getField()));
        place(field, surface->getOrig(), surface->getVoxelSize());
        fields.push_back(std::move(field));
    }
    if (const SIM_VectorField *velocity = getVectorField(object, GAS_NAME_VELOCITY, true)) {
        meniscus::Field field;
        field.name = "vel";
        field.sampling = velocity->isFaceSampled() ? MNS_FACE : MNS_CENTER;
        for (int c = 0; c < 3; ++c) field.components.push_back(dense(*velocity->getField(c)));
        place(field, velocity->getOrig(), velocity->getVoxelSize());
        fields.push_back(std::move(field));
    }
}

bool GAS_MeniscusForce::solveGasSubclass(SIM_Engine &, SIM_Object *object, SIM_Time time, SIM_Time timestep) {
    SIM_GeometryCopy *geometry = getGeometryCopy(object, GAS_NAME_GEOMETRY);
    if (!geometry) {
        addError(object, SIM_MESSAGE, "Gas Meniscus Force: the object has no geometry; name it in Geometry", UT_ERROR_ABORT);
        return false;
    }
    try {
        UT_String plugin, node, settings;
        getPlugin(plugin);
        getNodeType(node);
        getSettings(settings);
        const std::string wanted = plugin.toStdString() + "\n" + node.toStdString();
        if (!myForce || myOpened != wanted) {
            myForce = std::make_unique<meniscus::PluginForce>(plugin.toStdString(), node.toStdString());
            myOpened = wanted;
        }
        myForce->set(settings.toStdString());

        std::vector<meniscus::Field> fields;
        gather(object, fields);
        meniscus::Moment moment;
        moment.time = double(time);
        moment.dt = double(timestep);
        moment.object = object->getName().toStdString();

        SIM_GeometryAutoWriteLock lock(geometry);
        GU_Detail &detail = lock.getGdp();
        GA_RWHandleV3 v(detail.addFloatTuple(GA_ATTRIB_POINT, "v", 3));
        meniscus::Particles particles;
        GA_Offset point;
        GA_FOR_ALL_PTOFF(&detail, point) {
            const UT_Vector3 at = detail.getPos3(point), speed = v.get(point);
            particles.P.insert(particles.P.end(), {at.x(), at.y(), at.z()});
            particles.v.insert(particles.v.end(), {speed.x(), speed.y(), speed.z()});
        }
        if (!myForce->apply(moment, particles, fields, [] { return UTgetInterrupt()->opInterrupt(); })) return false;
        size_t i = 0;
        GA_FOR_ALL_PTOFF(&detail, point) {
            v.set(point, UT_Vector3(particles.v[i], particles.v[i + 1], particles.v[i + 2]));
            i += 3;
        }
        geometry->pubHandleModification();
        for (const std::string &sentence : myForce->said()) addError(object, SIM_MESSAGE, sentence.c_str(), UT_ERROR_MESSAGE);
        return true;
    } catch (const meniscus::Refused &refused) {
        addError(object, SIM_MESSAGE, refused.what(), UT_ERROR_ABORT);
        return false;
    }
}
