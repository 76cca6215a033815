// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/npz_writer.hpp"

#include <zip.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "polyhop/core/error.hpp"

namespace polyhop {
namespace {

// Noon on 1 January 1980, the first day that a zip file can represent, in zip's units: libzip takes it for local time,
// and noon exists in every time zone.
constexpr zip_uint16_t fixed_time = 12U << 11;
constexpr zip_uint16_t fixed_date = (1U << 5) | 1U;

struct FreeSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Source = std::unique_ptr<zip_source_t, FreeSource>;
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

/// A libzip error, freed at the end of its scope.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t* get() { return &error_; }

 private:
  zip_error_t error_{};
};

[[noreturn]] void fail(const std::string& what, zip_error_t* error) {
  const std::string text = "cannot write " + what + ": " + zip_error_strerror(error);
  if (zip_error_system_type(error) == ZIP_ET_SYS && is_lack_of_room(zip_error_code_system(error)))
    throw OutputError(text);
  throw Error(text);
}

std::string shape_text(const std::vector<Index>& shape) {
  std::string text;
  for (const Index n : shape) text += std::to_string(n) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) text.resize(text.size() - 2);
  return "(" + text + ")";
}

/// Magic, version, length of the header, header; data begins at a multiple of 64 bytes.
std::string npy_header(const std::vector<Index>& shape) {
  constexpr std::size_t prefix = 10;
  constexpr std::size_t alignment = 64;
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  header.append(alignment - 1 - (prefix + header.size()) % alignment, ' ');
  header += '\n';
  if (header.size() > UINT16_MAX) throw Error("an array of " + std::to_string(shape.size()) + " dimensions");
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

std::string npy_bytes(std::span<const double> data, const std::vector<Index>& shape) {
  static_assert(std::endian::native == std::endian::little, "numbers are written as they stand in memory");
  std::string bytes = npy_header(shape);
  std::size_t at = bytes.size();
  bytes.resize(at + data.size() * sizeof(double));
  for (const double value : data) {
    const double x = value;
    std::memcpy(bytes.data() + at, &x, sizeof x);
    at += sizeof x;
  }
  return bytes;
}

void check_shape(const std::string& name, std::size_t size, const std::vector<Index>& shape) {
  Index count = 1;
  bool fits = true;
  for (const Index n : shape) fits = fits && n >= 0 && !__builtin_mul_overflow(count, n, &count);
  if (fits && static_cast<std::size_t>(count) == size) return;
  throw Error("the array '" + name + "' has " + std::to_string(size) + " numbers, which do not fill the shape " +
              shape_text(shape));
}

void add_member(zip_t* archive, const std::string& name, const std::string& bytes) {
  Source content(zip_source_buffer(archive, bytes.data(), bytes.size(), 0));
  if (!content) fail("'" + name + "'", zip_get_error(archive));
  const zip_int64_t index = zip_file_add(archive, name.c_str(), content.get(), ZIP_FL_ENC_UTF_8);
  if (index < 0) fail("'" + name + "'", zip_get_error(archive));
  static_cast<void>(content.release());  // the archive owns it now
  const auto member = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, member, fixed_time, fixed_date, 0) != 0) {
    fail("'" + name + "'", zip_get_error(archive));
  }
}

void copy_to(AtomicFile& file, zip_source_t* source) {
  if (zip_source_open(source) != 0) fail("'" + file.path() + "'", zip_source_error(source));
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    const zip_int64_t count = zip_source_read(source, buffer.data(), buffer.size());
    if (count < 0) fail("'" + file.path() + "'", zip_source_error(source));
    if (count == 0) break;
    file.write(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
  }
  zip_source_close(source);
}

// Names come from users: none may lead out of the folder that an archive is unpacked into.
std::string kept_inside(std::string name) {
  if (!name.empty() && name.front() == '/') name.front() = '_';
  for (std::size_t at = name.find(".."); at != std::string::npos; at = name.find("..", at + 1)) {
    const bool begins = at == 0 || name[at - 1] == '/' || name[at - 1] == '\\';
    const bool ends = at + 2 == name.size() || name[at + 2] == '/' || name[at + 2] == '\\';
    if (begins && ends) name.replace(at, 2, "__");
  }
  return name;
}

}  // namespace

NpzWriter::NpzWriter(std::string path) : file_(std::move(path)) {}

void NpzWriter::add(const std::string& name, std::span<const double> data, const std::vector<Index>& shape) {
  check_shape(name, data.size(), shape);
  const std::string member = kept_inside(name) + ".npy";
  take_name(name, member);
  members_.emplace_back(member, npy_bytes(data, shape));
}

void NpzWriter::add_text(const std::string& member, std::string text) {
  take_name(member, member);
  members_.emplace_back(member, std::move(text));
}

void NpzWriter::take_name(const std::string& name, const std::string& member) {
  if (name.find('\0') != std::string::npos) throw Error("an array's name may not hold a NUL character");
  if (!names_.insert(member).second) throw Error("two arrays have the name '" + name + "' in '" + file_.path() + "'");
}

void NpzWriter::close() {
  if (members_.empty()) {
    // libzip does not write an archive without members, which is just an end-of-directory record.
    file_.write(std::string_view("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22));
    return file_.commit();
  }
  ZipError error;
  Source source(zip_source_buffer_create(nullptr, 0, 0, error.get()));
  if (!source) fail("'" + file_.path() + "'", error.get());
  Archive archive(zip_open_from_source(source.get(), ZIP_TRUNCATE, error.get()));
  if (!archive) fail("'" + file_.path() + "'", error.get());
  zip_source_keep(source.get());  // the archive holds one reference
  for (const auto& [name, bytes] : members_) add_member(archive.get(), name, bytes);
  if (zip_close(archive.get()) != 0) fail("'" + file_.path() + "'", zip_get_error(archive.get()));
  static_cast<void>(archive.release());  // closing has freed it
  members_.clear();
  copy_to(file_, source.get());
  file_.commit();
}

}  // namespace polyhop
