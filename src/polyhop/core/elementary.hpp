// SPDX-FileCopyrightText: The polyhop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

/// exp and log whose bits depend only on their argument. The C library picks its variant by CPU (with or without fused
/// multiply-add), so two machines may differ in the last bit; these do not. Both are accurate to about 1 unit in the
/// last place (tested against the C library), and inline so that loops over them can be vectorised.
namespace polyhop::elementary {

/// e^x: x = n ln 2 + r with |r| <= ln 2 / 2, a Taylor polynomial of degree 13 in r, scaled by 2^n.
inline double exp(double x) {
  constexpr double log2_e = 1.44269504088896338700e+00;
  constexpr double ln2_high = 6.93147180369123816490e-01;
  constexpr double ln2_low = 1.90821492927058770002e-10;
  if (x > 709.782712893384) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0.0;
  if (std::isnan(x)) return x;
  // Adding 1.5 * 2^52 rounds to an integer without calling the library.
  constexpr double round_shift = 6755399441055744.0;
  const double n = (std::fma(x, log2_e, round_shift)) - round_shift;
  const double r = std::fma(-n, ln2_low, std::fma(-n, ln2_high, x));
  double p = 1.6059043836821614599e-10;           // 1/13!
  p = std::fma(p, r, 2.0876756987868098979e-09);  // 1/12!
  p = std::fma(p, r, 2.5052108385441718775e-08);
  p = std::fma(p, r, 2.7557319223985890653e-07);
  p = std::fma(p, r, 2.7557319223985892511e-06);
  p = std::fma(p, r, 2.4801587301587301566e-05);
  p = std::fma(p, r, 1.9841269841269841253e-04);
  p = std::fma(p, r, 1.3888888888888889419e-03);
  p = std::fma(p, r, 8.3333333333333332177e-03);
  p = std::fma(p, r, 4.1666666666666664354e-02);
  p = std::fma(p, r, 1.6666666666666665741e-01);
  p = std::fma(p, r, 0.5);
  p = std::fma(p, r * r, r) + 1.0;
  // Two factors of half the exponent each, so that results below the normal range still round once.
  const auto whole = static_cast<std::int64_t>(n);
  const auto half = whole / 2;
  const auto power = [](std::int64_t e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); };
  return p * power(half) * power(whole - half);
}

/// ln x: x = 2^n m with m in [sqrt(1/2), sqrt(2)), then the odd series in s = (m-1)/(m+1)
/// with the minimax coefficients of FreeBSD's msun (e_log.c).
inline double log(double x) {
  constexpr double ln2_high = 6.93147180369123816490e-01;
  constexpr double ln2_low = 1.90821492927058770002e-10;
  if (!(x > 0.0)) {
    return x == 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (x == std::numeric_limits<double>::infinity()) return x;
  int n = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    n = -54;
  }
  auto bits = std::bit_cast<std::uint64_t>(x);
  constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcdU;
  // The exponent relative to sqrt(1/2), so that m lands in [sqrt(1/2), sqrt(2)).
  const auto shift = static_cast<std::int64_t>(bits - sqrt_half) >> 52;
  n += static_cast<int>(shift);
  bits -= static_cast<std::uint64_t>(shift) << 52;
  const double f = std::bit_cast<double>(bits) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double p = 1.479819860511658591e-01;
  p = std::fma(p, z, 1.531383769920937332e-01);
  p = std::fma(p, z, 1.818357216161805012e-01);
  p = std::fma(p, z, 2.222219843214978396e-01);
  p = std::fma(p, z, 2.857142874366239149e-01);
  p = std::fma(p, z, 3.999999999940941908e-01);
  p = std::fma(p, z, 6.666666666666735130e-01);
  const double half_square = 0.5 * f * f;
  const double tail = std::fma(s, std::fma(p, z, half_square), n * ln2_low);
  return n * ln2_high - ((half_square - tail) - f);
}

/// ln(1 + x) for x >= 0, accurate for small x.
inline double log1p(double x) {
  const double u = 1.0 + x;
  if (u == std::numeric_limits<double>::infinity()) return u;
  return log(u) + (x - (u - 1.0)) / u;
}

}  // namespace polyhop::elementary
