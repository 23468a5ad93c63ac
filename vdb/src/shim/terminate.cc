// What nobody caught: C++ ends the program for it, also before main() while libraries are set up.

#include "shim.h"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

namespace {

mv_uncaught told = nullptr;
std::terminate_handler before = nullptr;

// What the system refused, if that is why the program ends.
int refused() noexcept
{
    if (!std::current_exception()) return 0;
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return ENOMEM;
    } catch (const std::system_error& e) {
        return e.code().value();
    } catch (...) {
        return 0;
    }
}

[[noreturn]] void terminate() noexcept
{
    const int error = refused();
    if (error != 0 && told) told(error);
    if (before) before();
    std::abort();
}

} // namespace

void mv_on_uncaught(mv_uncaught tell)
{
    told = tell;
    const auto other = std::set_terminate(terminate);
    if (other != terminate) before = other;
}
