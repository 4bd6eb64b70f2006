#!/usr/bin/env python3
"""Writes references.inc: values of libdevice's functions to 25 digits, computed by mpmath (pip install mpmath), an
independent implementation. Arguments are exact doubles; those of the float functions are exact floats."""

import random
import struct

import mpmath
from mpmath import mp, mpf

mp.dps = 60
random.seed(7)


def as_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def spread(low, high, count=14):
    """Values between low and high, dense near zero where the range holds it."""
    values = [random.uniform(low, high) for _ in range(count)]
    values += [v * 10.0 ** random.randint(-6, -1) for v in values if low < v * 1e-6 < high][:8]
    return values


def normcdf(x):
    return mpmath.erfc(-x / mp.sqrt(2)) / 2


def erfcinv(y):
    guess = mpmath.erfinv(1 - y) if y > mpf("1e-15") else mp.sqrt(-mp.log(y))
    return mpmath.findroot(lambda x: mp.log(mpmath.erfc(x)) - mp.log(y), guess)


def quantile(p):
    return -mp.sqrt(2) * erfcinv(2 * p)


# name: (function, argument values). The float function's name has an f at the end.
ONE = {
    "sin": (mp.sin, spread(-100, 100) + [1e5, 1e15]),
    "cos": (mp.cos, spread(-100, 100) + [1e5, 1e15]),
    "tan": (mp.tan, spread(-100, 100)),
    "sinpi": (lambda x: mp.sin(mp.pi * x), spread(-50, 50)),
    "cospi": (lambda x: mp.cos(mp.pi * x), spread(-50, 50)),
    "asin": (mp.asin, spread(-1, 1)),
    "acos": (mp.acos, spread(-1, 1)),
    "atan": (mp.atan, spread(-1000, 1000)),
    "sinh": (mp.sinh, spread(-80, 80)),
    "cosh": (mp.cosh, spread(-80, 80)),
    "tanh": (mp.tanh, spread(-8, 8)),
    "asinh": (mp.asinh, spread(-1e6, 1e6)),
    "acosh": (mp.acosh, spread(1.001, 1e6)),
    "atanh": (mp.atanh, spread(-0.999, 0.999)),
    "exp": (mp.exp, spread(-80, 80)),
    "exp2": (lambda x: mpf(2) ** x, spread(-100, 100)),
    "exp10": (lambda x: mpf(10) ** x, spread(-35, 35)),
    "expm1": (mp.expm1, spread(-30, 60)),
    "log": (mp.log, spread(1e-3, 1e9)),
    "log2": (lambda x: mp.log(x) / mp.log(2), spread(1e-3, 1e9)),
    "log10": (lambda x: mp.log(x) / mp.log(10), spread(1e-3, 1e9)),
    "log1p": (lambda x: mp.log(1 + x), spread(-0.99, 1e4)),
    "sqrt": (mp.sqrt, spread(1e-3, 1e9)),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), spread(1e-3, 1e9)),
    "cbrt": (mp.cbrt, spread(1e-3, 1e9)),
    "rcbrt": (lambda x: 1 / mp.cbrt(x), spread(1e-3, 1e9)),
    "erf": (mpmath.erf, spread(-4, 4)),
    "erfc": (mpmath.erfc, spread(-4, 9)),
    "erfcx": (lambda x: mp.exp(x * x) * mpmath.erfc(x), spread(-5, 60) + [25.9, 26.0, 26.5]),
    "erfinv": (mpmath.erfinv, spread(-0.9999, 0.9999)),
    "erfcinv": (erfcinv, spread(1e-3, 1.99) + [1e-10, 1e-30]),
    "normcdf": (normcdf, spread(-12, 6)),
    "normcdfinv": (quantile, spread(1e-3, 0.999) + [1e-12, 1e-30]),
    "tgamma": (mpmath.gamma, spread(0.1, 33) + [-0.5, -3.7]),
    "lgamma": (lambda x: mp.log(abs(mpmath.gamma(x))), spread(3, 1e5) + [0.1, 0.5]),
    "j0": (lambda x: mpmath.besselj(0, x), spread(0, 7)),
    "j1": (lambda x: mpmath.besselj(1, x), spread(0, 7)),
    "y0": (lambda x: mpmath.bessely(0, x), spread(0.1, 7)),
    "y1": (lambda x: mpmath.bessely(1, x), spread(0.1, 7)),
    "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), spread(-80, 80)),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), spread(-80, 80)),
}
TWO = {
    "pow": (lambda x, y: x**y, spread(0.01, 30), spread(-15, 15)),
    "atan2": (mp.atan2, spread(-50, 50), spread(-50, 50)),
    "hypot": (mp.hypot, spread(-1e6, 1e6), spread(-1e6, 1e6)),
    "rhypot": (lambda x, y: 1 / mp.hypot(x, y), spread(-1e6, 1e6), spread(-1e6, 1e6)),
}


def main():
    lines = ["// name, first argument, second argument (0 where there is none), value. From make_references.py."]
    for suffix, cast in (("", float), ("f", as_float)):
        for name, (function, xs) in ONE.items():
            for x in map(cast, xs):
                lines.append(f'{{"__nv_{name}{suffix}", {x!r}, 0.0, {mp.nstr(function(mpf(x)), 25)}L}},')
        for name, (function, xs, ys) in TWO.items():
            for x, y in zip(map(cast, xs), map(cast, ys)):
                lines.append(f'{{"__nv_{name}{suffix}", {x!r}, {y!r}, {mp.nstr(function(mpf(x), mpf(y)), 25)}L}},')
    with open("references.inc", "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
