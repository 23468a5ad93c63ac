// Device memory with an inaccessible page on either side: a kernel that reads or writes past the end of an array
// does not get away with it.
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr std::size_t ALIGNMENT = 16;

struct Pages {
    std::size_t page, length;

    explicit Pages(std::size_t bytes) {
        page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        length = (bytes + page - 1) / page * page;
    }
};

std::size_t aligned(std::size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

}  // namespace

/// Zeroed memory that ends (to 16 bytes) where the guard begins; null when there is none.
extern "C" void* meniscus_emulation_allocate(std::size_t bytes) {
    Pages pages(aligned(bytes));
    std::size_t total = pages.length + 2 * pages.page;
    void* base = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        return nullptr;
    }
    char* data = static_cast<char*>(base) + pages.page;
    if (mprotect(data, pages.length, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, total);
        return nullptr;
    }
    return data + pages.length - aligned(bytes);
}

/// Gives back what `meniscus_emulation_allocate` gave for as many bytes.
extern "C" void meniscus_emulation_free(void* memory, std::size_t bytes) {
    Pages pages(aligned(bytes));
    char* data = static_cast<char*>(memory) + aligned(bytes) - pages.length;
    munmap(data - pages.page, pages.length + 2 * pages.page);
}
