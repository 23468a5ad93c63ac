// Grids to the bytes of a .vdb file.

#include "build.h"
#include "guard.h"

#include <openvdb/io/Archive.h>
#include <openvdb/openvdb.h>
#include <openvdb/version.h>

#include <algorithm>
#include <ostream>
#include <streambuf>
#include <string>

struct mv_buffer {
    std::vector<char> bytes;
};

namespace meniscus {
namespace {

// A growing, seekable memory stream: OpenVDB goes back to fill in the grid offsets.
class MemoryStream : public std::streambuf
{
public:
    explicit MemoryStream(std::vector<char>& bytes) : bytes_(bytes) {}

protected:
    std::streamsize xsputn(const char* data, std::streamsize count) override
    {
        const size_t end = at_ + size_t(count);
        if (end > bytes_.size()) bytes_.resize(end);
        std::copy_n(data, count, bytes_.begin() + std::ptrdiff_t(at_));
        at_ = end;
        return count;
    }
    int_type overflow(int_type c) override
    {
        const char byte = traits_type::to_char_type(c);
        xsputn(&byte, 1);
        return c;
    }
    pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override
    {
        const off_type base = from == std::ios_base::beg ? 0
            : from == std::ios_base::cur                 ? off_type(at_)
                                                         : off_type(bytes_.size());
        return seekpos(base + offset, std::ios_base::out);
    }
    pos_type seekpos(pos_type position, std::ios_base::openmode) override
    {
        if (off_type(position) < 0) return pos_type(off_type(-1));
        at_ = size_t(off_type(position));
        return position;
    }

private:
    std::vector<char>& bytes_;
    size_t at_ = 0;
};

// Gives access to OpenVDB's writer for any seekable stream, grid offsets included.
class MemoryArchive : public openvdb::io::Archive
{
public:
    void write_to(std::ostream& out, const openvdb::GridCPtrVec& grids, const openvdb::MetaMap& meta) const
    {
        openvdb::io::Archive::write(out, grids, /*seekable=*/true, meta);
    }
};

void add_metadata(openvdb::MetaMap& map, const mv_meta* meta, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const mv_meta& m = meta[i];
        switch (m.type) {
        case MV_META_STRING: map.insertMeta(m.key, openvdb::StringMetadata(m.text)); break;
        case MV_META_FLOAT: map.insertMeta(m.key, openvdb::FloatMetadata(float(m.number))); break;
        case MV_META_INT: map.insertMeta(m.key, openvdb::Int64Metadata(int64_t(m.number))); break;
        case MV_META_BOOL: map.insertMeta(m.key, openvdb::BoolMetadata(m.number != 0.0)); break;
        default: map.insertMeta(m.key, openvdb::DoubleMetadata(m.number)); break;
        }
    }
}

openvdb::GridBase::Ptr build_any(const mv_grid& in)
{
    openvdb::GridBase::Ptr grid;
    switch (in.type) {
    case MV_FLOAT: grid = build_grid<FloatGrid>(in); break;
    case MV_VEC3F: grid = build_grid<Vec3fGrid>(in); break;
    case MV_INT32: grid = build_grid<Int32Grid>(in); break;
    default: OPENVDB_THROW(openvdb::TypeError, "unknown element type");
    }
    if (in.vector_type) {
        grid->setVectorType(openvdb::GridBase::stringToVecType(in.vector_type));
    }
    add_metadata(*grid, in.meta, in.meta_count);
    return grid;
}

} // namespace
} // namespace meniscus

extern "C" int mv_write(const mv_grid* grids, size_t count, const mv_meta* meta, size_t meta_count,
                        mv_buffer** out, mv_error* error)
{
    return meniscus::guarded(error, [&] {
        openvdb::initialize();
        openvdb::GridCPtrVec built;
        for (size_t g = 0; g < count; ++g) built.push_back(meniscus::build_any(grids[g]));
        openvdb::MetaMap file_meta;
        meniscus::add_metadata(file_meta, meta, meta_count);

        auto buffer = std::make_unique<mv_buffer>();
        meniscus::MemoryStream memory(buffer->bytes);
        std::ostream stream(&memory);
        meniscus::MemoryArchive archive;
        archive.setCompression(openvdb::io::COMPRESS_BLOSC | openvdb::io::COMPRESS_ACTIVE_MASK);
        archive.write_to(stream, built, file_meta);
        *out = buffer.release();
    });
}

extern "C" const uint8_t* mv_buffer_data(const mv_buffer* buffer)
{
    return reinterpret_cast<const uint8_t*>(buffer->bytes.data());
}

extern "C" size_t mv_buffer_size(const mv_buffer* buffer) { return buffer->bytes.size(); }

extern "C" void mv_buffer_free(mv_buffer* buffer) { delete buffer; }

extern "C" const char* mv_version(void) { return openvdb::getLibraryVersionString(); }
