// Turns C++ exceptions into the error sentence of the C face.
#ifndef MENISCUS_VDB_GUARD_H
#define MENISCUS_VDB_GUARD_H

#include "shim.h"

#include <openvdb/Exceptions.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace meniscus {

inline int fail(mv_error* error, const char* text) noexcept
{
    if (error) std::snprintf(error->text, sizeof error->text, "%s", text);
    return 1;
}

template<typename F>
int guarded(mv_error* error, F&& body) noexcept
{
    try {
        body();
        return 0;
    } catch (const std::bad_alloc&) {
        return fail(error, "out of memory: free some, or raise its limit (ulimit -v)");
    } catch (const std::exception& e) {
        // TBB says no more than the name of a function.
        const bool thread = std::strstr(e.what(), "pthread_create") != nullptr;
        return fail(error, thread ? "cannot begin a thread: raise the limit of threads (ulimit -u) or of memory "
                                    "(ulimit -v), or end other programs"
                                  : e.what());
    } catch (...) {
        return fail(error, "OpenVDB threw an unknown exception");
    }
}

} // namespace meniscus
#endif
