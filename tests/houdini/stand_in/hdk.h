// What gas_meniscus_force uses of Houdini's development kit, declared from its public documentation: enough for a compiler to
// check the syntax. It shows that our calls fit together, not that the kit has them so.
#pragma once

#include <memory>
#include <string>

#define GAS_NAME_GEOMETRY "geometry"
#define GAS_NAME_SURFACE "surface"
#define GAS_NAME_VELOCITY "velocity"

struct UT_StringHolder {
    const char *c_str() const;
    std::string toStdString() const;
};
struct UT_String : UT_StringHolder {};
struct UT_Vector3 {
    UT_Vector3(float, float, float);
    float x() const, y() const, z() const;
};
struct UT_VoxelArrayF {
    int getXRes() const, getYRes() const, getZRes() const;
    float operator()(int x, int y, int z) const;
};
struct UT_Interrupt {
    bool opInterrupt(int percent = -1);
};
UT_Interrupt *UTgetInterrupt();
enum UT_ErrorSeverity { UT_ERROR_MESSAGE, UT_ERROR_WARNING, UT_ERROR_ABORT };

struct PRM_Name {
    PRM_Name(const char *token, const char *label);
};
struct PRM_Default {
    PRM_Default(float number, const char *text);
};
enum PRM_Type { PRM_STRING, PRM_FILE };
struct PRM_Template {
    PRM_Template();
    PRM_Template(PRM_Type type, int size, PRM_Name *name, PRM_Default *defaults);
};

struct SIM_Engine;
struct SIM_DataFactory;
struct SIM_Time {
    explicit operator double() const;
};
struct SIM_Object {
    const UT_StringHolder &getName() const;
};
struct SIM_DopDescription {
    SIM_DopDescription(bool is_node, const char *name, const char *label, const char *data, const char *type, PRM_Template *templates);
};
struct SIM_RawField {
    const UT_VoxelArrayF *field() const;
};
struct SIM_ScalarField {
    const SIM_RawField *getField() const;
    const UT_Vector3 &getOrig() const;
    UT_Vector3 getVoxelSize() const;
};
struct SIM_VectorField {
    const SIM_RawField *getField(int axis) const;
    bool isFaceSampled() const;
    const UT_Vector3 &getOrig() const;
    UT_Vector3 getVoxelSize() const;
};

using GA_Offset = long;
enum GA_AttributeOwner { GA_ATTRIB_POINT };
struct GA_RWAttributeRef {};
struct GA_RWHandleV3 {
    GA_RWHandleV3(const GA_RWAttributeRef &attribute);
    UT_Vector3 get(GA_Offset offset) const;
    void set(GA_Offset offset, const UT_Vector3 &value) const;
};
struct GU_Detail {
    GA_RWAttributeRef addFloatTuple(GA_AttributeOwner owner, const char *name, int size);
    UT_Vector3 getPos3(GA_Offset offset) const;
    GA_Offset first() const, past() const;
};
#define GA_FOR_ALL_PTOFF(detail, offset) for (offset = (detail)->first(); offset < (detail)->past(); ++offset)

struct SIM_GeometryCopy {
    void pubHandleModification();
};
struct SIM_GeometryAutoWriteLock {
    explicit SIM_GeometryAutoWriteLock(SIM_GeometryCopy *geometry);
    GU_Detail &getGdp() const;
};
enum { SIM_MESSAGE };

struct GAS_SubSolver {
    explicit GAS_SubSolver(const SIM_DataFactory *factory);
    virtual ~GAS_SubSolver();
    virtual bool solveGasSubclass(SIM_Engine &engine, SIM_Object *object, SIM_Time time, SIM_Time timestep) = 0;
    SIM_GeometryCopy *getGeometryCopy(SIM_Object *object, const char *name, bool silent = false);
    SIM_ScalarField *getScalarField(SIM_Object *object, const char *name, bool silent = false);
    SIM_VectorField *getVectorField(SIM_Object *object, const char *name, bool silent = false);
    static void setGasDescription(SIM_DopDescription &description);
    static void addError(const SIM_Object *object, int code, const char *sentence, UT_ErrorSeverity severity);
};

#define GET_DATA_FUNC_S(name, Function) void get##Function(UT_String &value) const
#define DECLARE_STANDARD_GETCASTTOTYPE() void *getCastToType() const
#define DECLARE_DATAFACTORY(Class, Base, label, description)                                                                       \
    using BaseClass = Base;                                                                                                         \
    static const char *classname();                                                                                                 \
    static void registerDataFactory();                                                                                              \
    friend void initializeSIM(void *)
void initializeSIM(void *);
#define IMPLEMENT_DATAFACTORY(Class) Class::registerDataFactory()
