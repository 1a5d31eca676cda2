"""Bech32 (BIP 173) without its length limit, as keys are written (Specs/keyring.md, Specs/age.md)."""

from .encoding import FormatError

_ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def _checksum(prefix: str, digits: list[int]) -> int:
    state = 1
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    for digit in expanded + digits:
        top = state >> 25
        state = (state & 0x1FFFFFF) << 5 ^ digit
        for bit, generator in enumerate(_GENERATORS):
            if top >> bit & 1:
                state ^= generator
    return state


def decode(text: str, prefix: str) -> bytes:
    """The bytes of a text with this prefix, in either case."""
    if text not in (text.lower(), text.upper()):
        raise FormatError("a key is written in two cases")
    found, _, written = text.lower().rpartition("1")
    if found != prefix.lower() or any(c not in _ALPHABET for c in written):
        raise FormatError(f"a text is no {prefix}…")
    digits = [_ALPHABET.index(c) for c in written]
    if _checksum(found, digits) != 1:
        raise FormatError(f"the checksum of a {prefix}… does not fit")
    bits = "".join(f"{digit:05b}" for digit in digits[:-6])
    whole = len(bits) // 8 * 8
    if len(bits) - whole > 4 or "1" in bits[whole:]:
        raise FormatError(f"a {prefix}… has bits left over")
    return bytes(int(bits[place : place + 8], 2) for place in range(0, whole, 8))


def encode(prefix: str, content: bytes) -> str:
    """The text of bytes, in lower case."""
    bits = "".join(f"{byte:08b}" for byte in content)
    bits += "0" * (-len(bits) % 5)
    digits = [int(bits[place : place + 5], 2) for place in range(0, len(bits), 5)]
    check = _checksum(prefix, digits + [0] * 6) ^ 1
    digits += [check >> 5 * (5 - place) & 31 for place in range(6)]
    return prefix + "1" + "".join(_ALPHABET[digit] for digit in digits)
