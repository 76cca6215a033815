// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/idx_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "polyhop/core/error.hpp"
#include "polyhop/problem/byte_source.hpp"
#include "polyhop/problem/kept_rows.hpp"
#include "polyhop/problem/target_column.hpp"

namespace polyhop {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
  throw InputError("", message, 0, file);
}

/// An IDX file of bytes: 0, 0, 8 (bytes), the number of dimensions, each dimension in 4 bytes (the largest first), and
/// then the bytes.
struct IdxInput {
  IdxInput(const std::string& file, std::size_t dimensions) : source(file) {
    std::array<unsigned char, 4> head{};
    if (!take(head) || head[0] != 0 || head[1] != 0) refuse(file, "is not an IDX file");
    if (head[2] != 8) refuse(file, "is an IDX file of the type " + std::to_string(head[2]) + ", expected bytes (8)");
    if (head[3] != dimensions) {
      refuse(file,
             "is an IDX file of " + std::to_string(head[3]) + " dimensions, expected " + std::to_string(dimensions));
    }
    std::size_t count = 1;
    bool fits = true;
    for (std::size_t d = 0; d < dimensions; ++d) {
      std::array<unsigned char, 4> n{};
      if (!take(n)) refuse(file, "ends inside its header");
      shape.push_back((std::size_t{n[0]} << 24) | (std::size_t{n[1]} << 16) | (std::size_t{n[2]} << 8) | n[3]);
      fits = fits && !__builtin_mul_overflow(count, shape.back(), &count);
    }
    const std::size_t rest = source.max_bytes() - 4 - 4 * dimensions;
    if (!fits || (source.is_packed() ? count > rest : count != rest)) {
      refuse(file, "has a header that asks for " + (fits ? std::to_string(count) : "too many") + " bytes, found " +
                       (source.is_packed() ? "at most " : "") + std::to_string(rest));
    }
  }

  bool take(std::array<unsigned char, 4>& out) {
    return source.read(reinterpret_cast<char*>(out.data()), out.size()) == out.size();
  }

  void read(std::span<unsigned char> out) {
    if (source.read(reinterpret_cast<char*>(out.data()), out.size()) != out.size()) {
      refuse(source.file(), "ends too early");
    }
  }

  void finish() {
    char more = 0;
    if (source.read(&more, 1) != 0) refuse(source.file(), "continues after what its header asks for");
  }

  ByteSource source;
  std::vector<std::size_t> shape;
};

/// train-labels-idx1-ubyte for train-images-idx3-ubyte, compressed or not.
std::string labels_beside(const std::string& file) {
  const std::filesystem::path path(file);
  std::string name = path.filename().string();
  const std::string images = "images-idx3";
  const std::size_t at = name.find(images);
  if (at == std::string::npos) {
    refuse(file, "the labels of images are read from the file beside them, expected images-idx3 in the name");
  }
  name.replace(at, images.size(), "labels-idx1");
  const bool packed = name.ends_with(".gz");
  const std::string other = packed ? name.substr(0, name.size() - 3) : name + ".gz";
  std::error_code error;
  const std::filesystem::path found = path.parent_path() / other;
  if (!std::filesystem::exists(path.parent_path() / name, error) && std::filesystem::exists(found, error)) {
    return found.string();
  }
  if (!std::filesystem::exists(path.parent_path() / name, error)) refuse(file, "has no labels beside it: no " + name);
  return (path.parent_path() / name).string();
}

void read_labels(const std::string& file, std::size_t samples, const DataFormat& options, DataTable& out) {
  IdxInput in(file, 1);
  if (in.shape[0] != samples) {
    refuse(file,
           "has " + std::to_string(in.shape[0]) + " labels, expected " + std::to_string(samples) + ", one per image");
  }
  MeteredVector<unsigned char> bytes(samples);
  in.read(bytes);
  in.finish();
  TargetColumn targets(options.labels);
  targets.reserve(samples);
  for (std::size_t n = 0; n < samples; ++n) {
    const std::string wrong = targets.add(static_cast<double>(bytes[n]));
    if (!wrong.empty()) refuse(file, "label " + std::to_string(n + 1) + ": " + wrong);
  }
  targets.finish(out);
}

}  // namespace

DataTable read_idx(const std::string& file, const DataFormat& options) {
  refuse_choice(options, file);
  const std::string labels = options.has_targets ? labels_beside(file) : "";
  IdxInput in(file, 3);
  const std::size_t samples = in.shape[0];
  const std::size_t pixels = in.shape[1] * in.shape[2];
  if (samples == 0) refuse(file, "holds no samples");
  if (pixels == 0) refuse(file, "holds no features");
  if (options.columns > 0 && static_cast<Index>(pixels) != options.columns) {
    refuse(file, "has " + std::to_string(pixels) + " pixels per image, expected " + std::to_string(options.columns));
  }
  DataTable out;
  if (options.has_targets) read_labels(labels, samples, options, out);
  KeptRows kept(options);
  Rows rows(kept.count(static_cast<Index>(samples)), static_cast<Index>(pixels));
  MeteredVector<unsigned char> image(pixels);
  Index next = 0;
  for (std::size_t n = 0; n < samples; ++n) {
    in.read(image);
    if (kept.next()) std::ranges::copy(image, rows.row(next++).begin());
  }
  in.finish();
  out.features = std::move(rows);
  return out;
}

}  // namespace polyhop
