// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/core/npz_reader.hpp"

#include <zip.h>

#include <cstddef>
#include <string_view>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/core/input_file.hpp"
#include "polyhop/core/memory_limit.hpp"

namespace polyhop {
namespace {

constexpr std::string_view ending = ".npy";

struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
  throw InputError("", message, 0, file);
}

std::string reason(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

struct NpzReader::Archive {
  explicit Archive(const std::string& path) : file(path), bytes(input_file_size(path)) {
    int code = 0;
    zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
    if (zip == nullptr) refuse(path, "is not a readable NPZ (zip) archive: " + reason(code));
  }
  ~Archive() { zip_discard(zip); }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  [[nodiscard]] bool has(const std::string& member) const { return zip_name_locate(zip, member.c_str(), 0) >= 0; }

  [[nodiscard]] Member open(const std::string& member) const {
    if (!has(member)) refuse(file, "holds no '" + member + "'");
    Member in(zip_fopen(zip, member.c_str(), 0));
    if (!in) refuse(file, "'" + member + "' cannot be read: " + zip_strerror(zip));
    return in;
  }

  std::size_t read(zip_file_t* in, const std::string& member, char* out, std::size_t count) const {
    std::size_t done = 0;
    while (done < count) {
      const zip_int64_t n = zip_fread(in, out + done, count - done);
      if (n < 0) refuse(file, "'" + member + "' is damaged: " + zip_file_strerror(in));
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  /// The member's true length: the directory's may be forged, so compressed bytes are counted.
  [[nodiscard]] std::size_t length(const std::string& member) const {
    zip_stat_t status;
    if (zip_stat(zip, member.c_str(), 0, &status) != 0) refuse(file, "'" + member + "': " + zip_strerror(zip));
    if ((status.valid & ZIP_STAT_COMP_METHOD) != 0 && status.comp_method == ZIP_CM_STORE && status.size <= bytes) {
      return status.size;
    }
    const Member in = open(member);
    std::string buffer(std::size_t{1} << 18, '\0');
    std::size_t total = 0;
    for (std::size_t n = buffer.size(); n == buffer.size(); total += n) {
      n = read(in.get(), member, buffer.data(), buffer.size());
    }
    return total;
  }

  std::string file;
  std::uintmax_t bytes;
  zip_t* zip = nullptr;
};

NpzReader::NpzReader(std::string path) : path_(std::move(path)), archive_(std::make_unique<Archive>(path_)) {}
NpzReader::~NpzReader() = default;
NpzReader::NpzReader(NpzReader&&) noexcept = default;

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> out;
  const zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), 0);
    if (name == nullptr) continue;
    std::string_view text = name;
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    out.emplace_back(text);
  }
  return out;
}

bool NpzReader::has(const std::string& name) const { return archive_->has(name + std::string(ending)); }

NpyInput NpzReader::stream(const std::string& name) const {
  const std::string member = name + std::string(ending);
  if (!has(name)) {
    std::string all;
    for (const std::string& other : names()) all += (all.empty() ? "" : ", ") + other;
    refuse(path_, "holds no array '" + name + "'" + (all.empty() ? "" : "; its arrays: " + all));
  }
  const NpyInput::Length length = {archive_->length(member)};
  const std::shared_ptr<zip_file_t> in(archive_->open(member).release(), CloseMember());
  const Archive* archive = archive_.get();
  const auto read = [archive, in, member, left = length.bytes](char* out, std::size_t count) mutable {
    const std::size_t got = archive->read(in.get(), member, out, count);
    left -= std::min(left, got);
    // The checksum is compared only at the end, so read up to there.
    char beyond = 0;
    if (left == 0) (void)archive->read(in.get(), member, &beyond, 1);
    return got;
  };
  try {
    return {read, length, "the array '" + name + "'"};
  } catch (const InputError& e) {
    throw e.in_file(path_);
  }
}

NpzReader::Array NpzReader::array(const std::string& name) const {
  try {
    NpyInput in = stream(name);
    // Needs it twice if it is transposed.
    const bool turned = in.fortran_order() && in.shape().size() > 1;
    const HeldMemory held(static_cast<double>(in.count()) * sizeof(double) * (turned ? 2 : 1));
    Array out{in.shape(), std::vector<double>(in.count())};
    in.read(out.data);
    if (!turned) return out;
    // The file's numbers run along the first axis fastest: move each to its place in C order.
    std::vector<double> moved(out.data.size());
    std::vector<Index> at(out.shape.size(), 0);
    for (const double x : out.data) {
      Index place = 0;
      for (std::size_t d = 0; d < at.size(); ++d) place = place * out.shape[d] + at[d];
      moved[place] = x;
      for (std::size_t d = 0; d < at.size() && ++at[d] == out.shape[d]; ++d) at[d] = 0;
    }
    out.data = std::move(moved);
    return out;
  } catch (const InputError& e) {
    throw e.in_file(path_);
  }
}

bool NpzReader::has_text(const std::string& member) const { return archive_->has(member); }

std::string NpzReader::text(const std::string& member) const {
  constexpr std::size_t most = 64'000'000;
  const Member in = archive_->open(member);
  std::string out;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (std::size_t n = buffer.size(); n == buffer.size();) {
    n = archive_->read(in.get(), member, buffer.data(), buffer.size());
    out.append(buffer, 0, n);
    if (out.size() > most) refuse(path_, "'" + member + "' has more than 64000000 bytes");
  }
  return out;
}

}  // namespace polyhop
