// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#include "polyhop/report/network_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>

#include "polyhop/core/elementary.hpp"
#include "polyhop/core/error.hpp"
#include "polyhop/core/random.hpp"

namespace polyhop {
namespace {

using Neighbours = std::vector<std::vector<std::int32_t>>;

Neighbours neighbours_of(const NetworkPicture& picture) {
  Neighbours out(picture.agents);
  for (const auto& [k, l] : picture.edges) {
    out[k].push_back(l);
    out[l].push_back(k);
  }
  return out;
}

bool is_closed_ring(const NetworkPicture& picture) {
  constexpr Index most = 100;
  if (picture.agents < 3 || picture.agents > most) return false;
  const auto along = std::ranges::count_if(picture.edges, [&](const auto& edge) {
    const Index apart = edge.second - edge.first;
    return apart == 1 || apart == picture.agents - 1;
  });
  return along == picture.agents;
}

std::vector<Place> on_a_circle(Index agents) {
  std::vector<Place> places;
  const double step = 2 * std::numbers::pi / static_cast<double>(agents);
  const double radius = agents > 1 ? 0.5 / std::sin(step / 2) : 0;
  for (Index k = 0; k < agents; ++k) {
    const double angle = step * static_cast<double>(k);
    places.push_back({radius * std::sin(angle), -radius * std::cos(angle)});
  }
  return places;
}

// Two agents, how far apart along links, and nothing more.
struct Pair {
  std::int32_t k;
  std::int32_t l;
  std::int32_t distance;
};

// Links from `start` to everyone by breadth first; who cannot be reached is farther than anyone could be.
std::vector<std::int32_t> distances(const Neighbours& neighbours, std::int32_t start) {
  const auto agents = static_cast<std::int32_t>(neighbours.size());
  std::vector<std::int32_t> distance(neighbours.size(), agents);
  std::vector<std::int32_t> queue = {start};
  distance[start] = 0;
  for (std::size_t n = 0; n < queue.size(); ++n) {
    const auto k = static_cast<std::size_t>(queue[n]);
    for (const std::int32_t l : neighbours[k]) {
      auto& d = distance[l];
      if (d < agents) continue;
      d = distance[k] + 1;
      queue.push_back(l);
    }
  }
  return distance;
}

std::vector<Pair> all_pairs(const Neighbours& neighbours) {
  std::vector<Pair> pairs;
  const auto agents = static_cast<std::int32_t>(neighbours.size());
  for (std::int32_t k = 0; k < agents; ++k) {
    const auto distance = distances(neighbours, k);
    for (std::int32_t l = k + 1; l < agents; ++l) pairs.push_back({k, l, distance[l]});
  }
  return pairs;
}

// One sweep over all pairs in a random order: each is moved towards its distance, near pairs more firmly.
void relax(std::vector<Pair>& pairs, double rate, Stream& random, std::vector<Place>& places) {
  for (std::size_t n = pairs.size(); n > 1; --n) {
    std::swap(pairs[n - 1], pairs[random.below(static_cast<Index>(n))]);
  }
  for (const Pair& pair : pairs) {
    Place& p = places[pair.k];
    Place& q = places[pair.l];
    const double d = pair.distance;
    const double dx = p.x - q.x;
    const double dy = p.y - q.y;
    const double length = std::max(std::sqrt(dx * dx + dy * dy), 1e-9);
    const double move = std::min(rate / (d * d), 1.0) * (length - d) / 2 / length;
    p.x -= move * dx;
    p.y -= move * dy;
    q.x += move * dx;
    q.y += move * dy;
  }
}

std::vector<Place> by_stress(const NetworkPicture& picture) {
  constexpr int sweeps = 60;
  Stream random(0, Purpose::drawing);
  std::vector<Place> places(picture.agents);
  for (Place& place : places) place = {random.uniform(), random.uniform()};
  std::vector<Pair> pairs = all_pairs(neighbours_of(picture));
  double farthest = 1;
  for (const Pair& pair : pairs) farthest = std::max(farthest, static_cast<double>(pair.distance));
  // From a rate that moves every pair all the way to one that moves none noticeably.
  constexpr double last_rate = 0.02;
  const double fall = elementary::log(farthest * farthest / last_rate) / (sweeps - 1);
  for (int i = 0; i < sweeps; ++i) {
    relax(pairs, farthest * farthest * elementary::exp(-fall * i), random, places);
  }
  return places;
}

// Turns the longer axis level, around the centre.
void turn_level(std::vector<Place>& places) {
  const auto count = static_cast<double>(places.size());
  Place centre;
  for (const Place& p : places) centre = {centre.x + p.x / count, centre.y + p.y / count};
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const Place& p : places) {
    xx += (p.x - centre.x) * (p.x - centre.x);
    xy += (p.x - centre.x) * (p.y - centre.y);
    yy += (p.y - centre.y) * (p.y - centre.y);
  }
  const double angle = 0.5 * std::atan2(2 * xy, xx - yy);
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  for (Place& p : places) {
    const Place q = {p.x - centre.x, p.y - centre.y};
    p = {c * q.x + s * q.y, c * q.y - s * q.x};
  }
}

std::string in_xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (u >= 0x20 && u != 0x7f) {
      out += c;
    }
  }
  return out;
}

// From few neighbours to many, and what can be read on each.
struct Shade {
  const char* fill;
  const char* text;
};
constexpr std::array<Shade, 6> shades = {{{"#cfe3f3", "#102a43"},
                                          {"#9cc8e6", "#102a43"},
                                          {"#5ea6d6", "#102a43"},
                                          {"#2f7fbf", "#ffffff"},
                                          {"#175a97", "#ffffff"},
                                          {"#0b3560", "#ffffff"}}};

// Which shade stands for how many neighbours.
struct Scale {
  Index low = 0;
  Index high = 0;
  [[nodiscard]] std::size_t shade(Index degree) const {
    if (high == low) return 2;
    const auto last = static_cast<Index>(shades.size()) - 1;
    return static_cast<std::size_t>((degree - low) * last / (high - low));
  }
};

// Paper of a fixed width; its height follows the network.
class Paper {
 public:
  explicit Paper(std::vector<Place> places) : places_(std::move(places)) {
    Place low = places_.front();
    Place high = low;
    for (const Place& p : places_) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    const double across = std::max(high.x - low.x, 1e-9);
    const double down = std::max(high.y - low.y, 1e-9);
    const double scale = std::min(inner / across, inner / down);
    const double flat = std::max(scale * down, 0.2 * inner);
    height_ = flat + 2 * margin;
    for (Place& p : places_) {
      p.x = margin + inner / 2 + scale * (p.x - (low.x + high.x) / 2);
      p.y = margin + flat / 2 + scale * (p.y - (low.y + high.y) / 2);
    }
    const double room = std::sqrt(inner * flat / static_cast<double>(places_.size()));
    radius_ = std::clamp(std::min(0.2 * room, 0.36 * scale), 2.5, 15.0);
  }

  static constexpr double width = 800;
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] double radius() const { return radius_; }
  [[nodiscard]] const Place& at(Index k) const { return places_[k]; }

 private:
  static constexpr double margin = 30;
  static constexpr double inner = width - 2 * margin;
  std::vector<Place> places_;
  double height_ = 0;
  double radius_ = 0;
};

std::string links_svg(const NetworkPicture& picture, const Paper& paper) {
  // Many links are drawn so thin and faint that agents stay visible.
  const double crowd = static_cast<double>(picture.edges.size()) / 1500;
  std::string out =
      fmt::format("<path fill=\"none\" stroke=\"#486581\" stroke-width=\"{:.2f}\" stroke-opacity=\"{:.2f}\" d=\"",
                  std::clamp(1.6 / (1 + crowd / 2), 0.4, 1.6), std::clamp(0.7 / (1 + crowd), 0.15, 0.7));
  for (const auto& [k, l] : picture.edges) {
    const Place& p = paper.at(k);
    const Place& q = paper.at(l);
    out += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", p.x, p.y, q.x, q.y);
  }
  return out + "\"/>\n";
}

std::string agents_svg(const Neighbours& neighbours, const Scale& scale, const Paper& paper) {
  const double r = paper.radius();
  const bool numbered = r >= 9;
  std::string out = fmt::format("<g stroke=\"#ffffff\" stroke-width=\"{:.1f}\">\n", r > 4 ? 1.5 : 0.5);
  std::string numbers = fmt::format("<g font-size=\"{:.1f}\" text-anchor=\"middle\">\n", 0.85 * r);
  for (Index k = 0; k < static_cast<Index>(neighbours.size()); ++k) {
    const auto degree = static_cast<Index>(neighbours[k].size());
    const Shade& shade = shades[scale.shade(degree)];
    const Place& p = paper.at(k);
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"><title>agent {}, {} {}</title></circle>\n", p.x,
        p.y, r, shade.fill, k, degree, degree == 1 ? "neighbour" : "neighbours");
    if (numbered) {
      numbers += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" pointer-events=\"none\">{}</text>\n", p.x,
                             p.y + 0.3 * r, shade.text, k);
    }
  }
  return out + "</g>\n" + (numbered ? numbers + "</g>\n" : "");
}

// The title, and what the shades mean, from the right edge leftwards.
std::string legend_svg(const std::string& title, const Scale& scale, double y) {
  std::string out =
      fmt::format("<text x=\"30\" y=\"{:.1f}\" font-size=\"15\" fill=\"#102a43\">{}</text>\n", y + 5, in_xml(title));
  double x = Paper::width - 30;
  const auto write = [&](const std::string& text, double width) {
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"13\" fill=\"#486581\" text-anchor=\"end\">{}</text>\n",
                    x, y + 4.5, text);
    x -= width;
  };
  const auto dot = [&](std::size_t shade) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\" fill=\"{}\"/>\n", x - 7, y, shades[shade].fill);
    x -= 17;
  };
  if (scale.low == scale.high) {
    const std::string each = fmt::format("{} {} each", scale.low, scale.low == 1 ? "neighbour" : "neighbours");
    write(each, 8.0 * static_cast<double>(each.size()));
    dot(scale.shade(scale.low));
    return out;
  }
  const std::string most = fmt::format("{} neighbours", scale.high);
  write(most, 8.0 * static_cast<double>(most.size()));
  for (std::size_t s = shades.size(); s-- > 0;) dot(s);
  x -= 4;
  write(std::to_string(scale.low), 0);
  return out;
}

}  // namespace

std::vector<Place> network_layout(const NetworkPicture& picture) {
  if (picture.agents > max_agents_drawn) {
    throw Error("networks of at most " + std::to_string(max_agents_drawn) + " agents are drawn, this one has " +
                std::to_string(picture.agents));
  }
  if (is_closed_ring(picture)) return on_a_circle(picture.agents);
  std::vector<Place> places = by_stress(picture);
  turn_level(places);
  return places;
}

std::string network_svg(const NetworkPicture& picture, const std::string& title) {
  const Paper paper(network_layout(picture));
  const Neighbours neighbours = neighbours_of(picture);
  const auto by_degree = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto [least, most] = std::ranges::minmax_element(neighbours, by_degree);
  const Scale scale{static_cast<Index>(least->size()), static_cast<Index>(most->size())};
  const double legend = paper.height() + 10;
  const double height = legend + 30;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" role=\"img\">\n<title>{2}</title>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      Paper::width, height, in_xml(title));
  return out + links_svg(picture, paper) + agents_svg(neighbours, scale, paper) + legend_svg(title, scale, legend) +
         "</svg>\n";
}

}  // namespace polyhop
