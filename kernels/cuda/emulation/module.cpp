// The device modules, compiled for the host: the kernels by name, as a driver would know them.
#include "block.hpp"
#include "cuda.hpp"

#include "../particles.cu"
#include "../pressure.cu"

#include <cstring>
#include <utility>

namespace {

/// Unpacks a launch's arguments for a kernel.
template <auto kernel>
struct Call;

template <class... A, void (*kernel)(A...)>
struct Call<kernel> {
    static constexpr unsigned sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};

    static void run(void** arguments) { run(arguments, std::index_sequence_for<A...>{}); }

    template <std::size_t... i>
    static void run(void** arguments, std::index_sequence<i...>) {
        kernel(*static_cast<A*>(arguments[i])...);
    }
};

struct Kernel {
    const char* name;
    void (*run)(void**);
    /// Bytes of each argument; ends with 0.
    const unsigned* sizes;
};

#define KERNEL(name) Kernel{#name, Call<name>::run, Call<name>::sizes}
constexpr Kernel kernels[] = {
    KERNEL(start_red), KERNEL(relax_colour), KERNEL(gather_inflow), KERNEL(relax_supers),
    KERNEL(settle_bodies), KERNEL(settle_sheets), KERNEL(answer_cells), KERNEL(answer_supers), KERNEL(hold_bodies),
    KERNEL(restrict_cells), KERNEL(restrict_supers), KERNEL(prolong), KERNEL(solve_coarsest),
    KERNEL(dot_columns_single), KERNEL(dot_columns_double), KERNEL(weigh_columns),
    KERNEL(apply_single), KERNEL(apply_double), KERNEL(gather_flow_single), KERNEL(gather_flow_double),
    KERNEL(apply_supers), KERNEL(residual_single), KERNEL(residual_double), KERNEL(residual_supers),
    KERNEL(square_right_side), KERNEL(dot_single), KERNEL(dot_double), KERNEL(turn_single), KERNEL(turn_double),
    KERNEL(update_single), KERNEL(update_double), KERNEL(fold), KERNEL(restart),
    KERNEL(measure_right_side), KERNEL(choose_direction), KERNEL(choose_step), KERNEL(measure_single),
    KERNEL(measure_double), KERNEL(judge_single), KERNEL(judge_double), KERNEL(resume),
    KERNEL(particles_to_faces), KERNEL(faces_to_particles), KERNEL(advect),
};
#undef KERNEL

}  // namespace

/// Runs a kernel; null, or what is wrong with the launch. `sizes` are the bytes of each argument and end with 0.
extern "C" const char* meniscus_emulation_launch(
    const char* name, unsigned grid, unsigned block, void** arguments, const unsigned* sizes, int descending) {
    for (const Kernel& kernel : kernels) {
        if (std::strcmp(kernel.name, name) != 0) {
            continue;
        }
        for (unsigned i = 0; kernel.sizes[i] != 0 || sizes[i] != 0; ++i) {
            if (kernel.sizes[i] != sizes[i]) {
                return "the arguments are not what the kernel takes";
            }
        }
        return run_grid(grid, block, descending ? Order::descending : Order::ascending, kernel.run, arguments);
    }
    return "no such kernel";
}
