// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/problem/byte_source.hpp"

#include <fast_float/fast_float.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "polyhop/core/error.hpp"
#include "polyhop/core/input_file.hpp"
#include "polyhop/core/value.hpp"

namespace polyhop {
namespace {

constexpr std::size_t packed_size = std::size_t{1} << 17;
constexpr std::size_t first_buffer = std::size_t{1} << 21;
constexpr std::size_t longest_line = std::size_t{1} << 27;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

struct ByteSource::Input {
  explicit Input(const std::string& name) : file(name), size(input_file_size(name)) {
    stream.reset(std::fopen(name.c_str(), "rb"));
    if (!stream) refuse("cannot be read: " + std::generic_category().message(errno));
    std::setvbuf(stream.get(), nullptr, _IONBF, 0);
    std::array<unsigned char, 2> magic{};
    const bool is_gzip =
        std::fread(magic.data(), 1, magic.size(), stream.get()) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    std::rewind(stream.get());
    if (!is_gzip) return;
    packed = std::make_unique<unsigned char[]>(packed_size);
    if (inflateInit2(&gzip, 16 + MAX_WBITS) != Z_OK) throw Error("zlib cannot start");
  }
  ~Input() {
    if (packed) inflateEnd(&gzip);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  [[noreturn]] void refuse(const std::string& message) const { throw InputError("", message, 0, file); }

  std::size_t read_plain(void* out, std::size_t count) {
    const std::size_t n = std::fread(out, 1, count, stream.get());
    if (n < count && std::ferror(stream.get()) != 0) {
      refuse("cannot be read: " + std::generic_category().message(errno));
    }
    return n;
  }

  bool refill() {
    gzip.next_in = packed.get();
    gzip.avail_in = static_cast<uInt>(read_plain(packed.get(), packed_size));
    return gzip.avail_in > 0;
  }

  /// Between two members of a gzip file: whether there is another one. Zeros are padding.
  bool next_member() {
    for (;;) {
      while (gzip.avail_in > 0 && *gzip.next_in == 0) {
        ++gzip.next_in;
        --gzip.avail_in;
      }
      if (gzip.avail_in > 0) break;
      if (!refill()) return false;
    }
    if (*gzip.next_in != 0x1f) refuse("has bytes after its gzip data that are not gzip");
    inflateReset(&gzip);
    return true;
  }

  std::size_t read_gzip(char* out, std::size_t count) {
    std::size_t done = 0;
    while (done < count && !finished) {
      if (gzip.avail_in == 0 && !refill()) refuse("its gzip data end too early; the file was cut off");
      const std::size_t room = std::min<std::size_t>(count - done, std::numeric_limits<uInt>::max());
      gzip.next_out = reinterpret_cast<Bytef*>(out + done);
      gzip.avail_out = static_cast<uInt>(room);
      const int code = inflate(&gzip, Z_NO_FLUSH);
      done += room - gzip.avail_out;
      if (code == Z_STREAM_END) {
        finished = !next_member();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        refuse(std::string("its gzip data are damaged: ") + (gzip.msg != nullptr ? gzip.msg : "unknown"));
      }
    }
    return done;
  }

  std::string file;
  std::uintmax_t size;
  std::unique_ptr<std::FILE, CloseFile> stream;
  std::unique_ptr<unsigned char[]> packed;  // compressed bytes of a gzip file
  z_stream gzip{};
  bool finished = false;
};

ByteSource::ByteSource(const std::string& file) : input_(std::make_unique<Input>(file)) {}
ByteSource::~ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;

const std::string& ByteSource::file() const { return input_->file; }

std::size_t ByteSource::read(char* out, std::size_t count) {
  return input_->packed ? input_->read_gzip(out, count) : input_->read_plain(out, count);
}

bool ByteSource::is_packed() const { return input_->packed != nullptr; }

std::size_t ByteSource::max_bytes() const {
  constexpr std::uintmax_t densest = 1032;  // deflate turns one byte into at most this many
  return input_->packed ? densest * input_->size : input_->size;
}

LineSource::LineSource(const std::string& file) : source_(file), buffer_(first_buffer) {
  refill();
  if (std::string_view(buffer_.data(), end_).starts_with("\xef\xbb\xbf")) next_ = 3;
}

/// Moves unused bytes to the front and reads on; false at the end of the file.
bool LineSource::refill() {
  if (finished_) return false;
  const std::size_t kept = end_ - line_;
  if (kept == buffer_.size()) {
    if (buffer_.size() >= longest_line) refuse("a line of more than 134217728 bytes; is this a text file?");
    buffer_.resize(2 * buffer_.size());  // line_ is 0: the line fills the whole buffer
  } else {
    std::memmove(buffer_.data(), buffer_.data() + line_, kept);
  }
  next_ -= line_;
  line_ = 0;
  const std::size_t count = source_.read(buffer_.data() + kept, buffer_.size() - kept);
  end_ = kept + count;
  finished_ = end_ < buffer_.size();
  if (std::memchr(buffer_.data() + kept, '\0', count) != nullptr) {
    throw InputError("", "holds binary data (a NUL byte), expected text", 0, source_.file());
  }
  return count > 0;
}

/// The position of the next line end at or after `from`, counted from line_; the buffer grows to hold it.
std::size_t LineSource::line_end(std::size_t from) {
  for (;;) {
    const std::size_t at = line_ + from;
    const void* found = std::memchr(buffer_.data() + at, '\n', end_ - at);
    if (found != nullptr) return static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
    from = end_ - line_;
    if (!refill()) return end_;
  }
}

bool LineSource::next(std::string_view& line) {
  line_ = next_;
  number_ += 1 + extended_;
  extended_ = 0;
  std::size_t end = line_end(0);
  next_ = std::min(end + 1, end_);
  if (end == line_ && end == end_) return false;
  if (end > line_ && buffer_[end - 1] == '\r') --end;
  line = {buffer_.data() + line_, end - line_};
  return true;
}

bool LineSource::extend(std::string_view& line) {
  if (next_ == end_ && !refill()) return false;
  ++extended_;
  std::size_t end = line_end(next_ - line_);
  next_ = std::min(end + 1, end_);
  if (end > line_ && buffer_[end - 1] == '\r') --end;
  line = {buffer_.data() + line_, end - line_};
  return true;
}

void LineSource::refuse(const std::string& message, const char* at) const {
  const std::string column = at == nullptr ? "" : "column " + std::to_string(at - (buffer_.data() + line_) + 1) + ": ";
  refuse_line(source_.file(), number_, column + message);
}

void refuse_line(const std::string& file, Index line, const std::string& message) {
  constexpr Index most = std::numeric_limits<int>::max();
  throw InputError("", message, static_cast<int>(std::min(line, most)), file);
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  return text.size() <= most ? in_quotes(text) : in_quotes(text.substr(0, most)) + "...";
}

bool parse_number(std::string_view text, double& out) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [at, error] = fast_float::from_chars(text.data(), end, out);
  return error != std::errc::invalid_argument && at == end && !text.empty();
}

TextCount count_text(const std::string& file) {
  ByteSource source(file);
  TextCount out;
  if (source.is_packed()) return out;
  std::string buffer(std::size_t{1} << 18, '\0');
  bool ended = true;
  for (std::size_t n = buffer.size(); n == buffer.size();) {
    n = source.read(buffer.data(), buffer.size());
    const std::string_view text(buffer.data(), n);
    out.bytes += n;
    out.lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    out.colons += static_cast<std::size_t>(std::ranges::count(text, ':'));
    if (n > 0) ended = text.back() == '\n';
  }
  if (!ended) ++out.lines;
  return out;
}

}  // namespace polyhop
