// NEVER COMPILED AGAINST THE HDK: written from its public documentation, checked for syntax against stand-ins in
// tests/houdini/stand_in_hdk. What it calls, plugin_force.h, is compiled and run by the tests.
//
// A microsolver for Houdini's own FLIP networks: a force of a Meniscus plugin acts on the particles of an object, and may
// read the object's fields.
#pragma once

#include "plugin_force.h"

#include <GAS/GAS_SubSolver.h>

class GAS_MeniscusForce : public GAS_SubSolver {
public:
    GET_DATA_FUNC_S("plugin", Plugin);
    GET_DATA_FUNC_S("node", NodeType);
    GET_DATA_FUNC_S("settings", Settings);

protected:
    explicit GAS_MeniscusForce(const SIM_DataFactory *factory);
    ~GAS_MeniscusForce() override;

    bool solveGasSubclass(SIM_Engine &engine, SIM_Object *object, SIM_Time time, SIM_Time timestep) override;

private:
    // Adds the fields that the object has, under the names that Meniscus' ports have.
    void gather(SIM_Object *object, std::vector<meniscus::Field> &fields);

    static const SIM_DopDescription *getDopDescription();

    // Opened again when plugin or node change; it keeps nothing that a simulation depends on.
    std::unique_ptr<meniscus::PluginForce> myForce;
    std::string myOpened;

    DECLARE_STANDARD_GETCASTTOTYPE();
    DECLARE_DATAFACTORY(GAS_MeniscusForce, GAS_SubSolver, "Gas Meniscus Force", getDopDescription());
};
