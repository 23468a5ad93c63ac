#include "block.hpp"
#include "cuda.hpp"

#include <csetjmp>
#include <memory>
#include <ucontext.h>
#include <vector>

thread_local Index threadIdx;
thread_local Index blockIdx;

namespace {

constexpr std::size_t STACK = 64 * 1024;

enum class Status { ready, waiting, finished };

/// A context that runs one thread of a block after the other. It is entered once by `swapcontext` (which asks the
/// system for the signal mask) and from then on by `longjmp` (which does not).
struct Fiber {
    std::unique_ptr<char[]> stack{new char[STACK]};
    ucontext_t entry;
    std::jmp_buf place;
    Status status = Status::ready;
    bool entered = false;
};

struct Scheduler {
    std::vector<std::unique_ptr<Fiber>> fibers;
    Fiber* current = nullptr;
    std::jmp_buf place;
    ucontext_t unused;
    void (*kernel)(void**) = nullptr;
    void** arguments = nullptr;
};

thread_local Scheduler scheduler;

__attribute__((noinline)) void leave(Status status) {
    Fiber* fiber = scheduler.current;
    fiber->status = status;
    if (_setjmp(fiber->place) == 0) {
        _longjmp(scheduler.place, 1);
    }
}

void live() {
    for (;;) {
        scheduler.kernel(scheduler.arguments);
        leave(Status::finished);
    }
}

__attribute__((noinline)) void enter(Fiber& fiber) {
    scheduler.current = &fiber;
    if (_setjmp(scheduler.place) != 0) {
        return;
    }
    if (fiber.entered) {
        _longjmp(fiber.place, 1);
    }
    fiber.entered = true;
    getcontext(&fiber.entry);
    fiber.entry.uc_stack.ss_sp = fiber.stack.get();
    fiber.entry.uc_stack.ss_size = STACK;
    fiber.entry.uc_link = nullptr;
    makecontext(&fiber.entry, live, 0);
    swapcontext(&scheduler.unused, &fiber.entry);
}

/// Lets every thread go on to its next barrier or its end; returns how many have come to their end.
unsigned advance(unsigned block, Order order) {
    unsigned finished = 0;
    for (unsigned i = 0; i < block; ++i) {
        unsigned t = order == Order::ascending ? i : block - 1 - i;
        Fiber& fiber = *scheduler.fibers[t];
        if (fiber.status != Status::finished) {
            threadIdx.x = t;
            enter(fiber);
        }
        finished += fiber.status == Status::finished;
    }
    return finished;
}

}  // namespace

void __syncthreads() { leave(Status::waiting); }

Complaint run_grid(unsigned grid, unsigned block, Order order, void (*kernel)(void**), void** arguments) {
    while (scheduler.fibers.size() < block) {
        scheduler.fibers.push_back(std::make_unique<Fiber>());
    }
    scheduler.kernel = kernel;
    scheduler.arguments = arguments;
    for (unsigned i = 0; i < grid; ++i) {
        blockIdx.x = order == Order::ascending ? i : grid - 1 - i;
        for (unsigned t = 0; t < block; ++t) {
            scheduler.fibers[t]->status = Status::ready;
        }
        unsigned finished = 0;
        while (finished < block) {
            finished = advance(block, order);
            if (finished != 0 && finished != block) {
                scheduler.fibers.clear();
                return "some threads of a block wait at a barrier that others never reach";
            }
        }
    }
    return nullptr;
}
