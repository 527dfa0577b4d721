"""What `kernels.format` writes, from NumPy's own shortest digits and Python's own rounding."""

from __future__ import annotations

import math

import numpy as np


def shortest_text(value: np.float32) -> str:
    """The shortest text that reads back as this float32: plain from 1e-4 up to 1e16, else like 1.5e-7."""
    if math.isnan(value):
        return "nan"
    sign = "-" if np.signbit(value) else ""
    if np.isinf(value):
        return f"{sign}inf"
    if value == 0:
        return f"{sign}0"
    mantissa, _, exponent = np.format_float_scientific(abs(value), unique=True, trim="-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, power = whole + fraction, int(exponent)
    if np.float32(f"{mantissa}e{exponent}") != abs(value):  # rounded twice, by way of float64: one more digit
        digits = f"{abs(value):.{len(digits)}e}".partition("e")[0].replace(".", "")
    if not -4 <= power < 16:
        point = f".{digits[1:]}" if digits[1:] else ""
        return f"{sign}{digits[0]}{point}e{power}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    if len(digits) <= power + 1:
        return f"{sign}{digits.ljust(power + 1, '0')}"
    return f"{sign}{digits[: power + 1]}.{digits[power + 1 :]}"


def rounded_text(value: np.float32, decimals: int) -> str:
    """At most so many decimals, without zeros at their end; whole numbers from 2^24 on as the shortest."""
    if abs(value) >= 2.0**24:
        return shortest_text(value)
    text = f"{float(value):.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" and value != 0 else text
