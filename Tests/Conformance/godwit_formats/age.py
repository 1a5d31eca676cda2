"""Binary age v1 files for X25519 or hybrid recipients (C2SP age; Specs/age.md)."""

from __future__ import annotations

import base64
import hmac
import os
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag

from . import hybrid, keys
from .encoding import FormatError

_INTRO = b"age-encryption.org/v1\n"
_INFO = b"age-encryption.org/v1/X25519"
_HYBRID_INFO = b"age-encryption.org/mlkem768x25519"
_KINDS = {1: b"X25519", 2: b"mlkem768x25519"}
_CHUNK = 65_536
_TAG = 16


def _base64(content: bytes) -> bytes:
    return base64.b64encode(content).rstrip(b"=")


def _from_base64(text: bytes) -> bytes:
    content = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    if _base64(content) != text:
        raise FormatError("base64 that is not canonical")
    return content


def binding(header: bytes, nonce: bytes) -> bytes:
    """What ties a signature inside to this age file (Specs/sync-file.md, "Signatures")."""
    return keys.sha256(header, nonce)


class Sealer:
    """An age file whose header is written before its payload is known, for the payload is bound to it."""

    def __init__(self, recipients: list[bytes], further: bytes = b"", random=os.urandom):
        """`further`: stanzas as bytes that stand behind those of the recipients."""
        file_key = random(16)
        stanzas = b"".join(_stanza(recipient, file_key, random(32)) for recipient in recipients)
        unsigned = _INTRO + stanzas + further + b"---"
        mac = hmac.digest(keys.derived(file_key, b"", b"header"), unsigned, "sha256")
        self.header = unsigned + b" " + _base64(mac) + b"\n"
        self.nonce = random(16)
        self.binding = binding(self.header, self.nonce)
        self._key = keys.derived(file_key, self.nonce, b"payload")

    def file(self, payload: bytes) -> bytes:
        """The whole file."""
        starts = range(0, len(payload), _CHUNK) or range(1)
        chunks = []
        for number, start in enumerate(starts):
            nonce = number.to_bytes(11, "big") + (b"\1" if start == starts[-1] else b"\0")
            chunks.append(keys.sealed(self._key, nonce, payload[start : start + _CHUNK]))
        return self.header + self.nonce + b"".join(chunks)


def _stanza(recipient: bytes, file_key: bytes, ephemeral: bytes) -> bytes:
    if len(recipient) == hybrid.PUBLIC_SIZE:
        share, body = hybrid.sealed(recipient, _HYBRID_INFO, file_key)
        return b"-> mlkem768x25519 " + _base64(share) + b"\n" + _base64(body) + b"\n"
    share = keys.agreement_public(ephemeral)
    wrapping = keys.derived(keys.agreed(ephemeral, recipient), share + recipient, _INFO)
    body = keys.sealed(wrapping, keys.ZERO_NONCE, file_key)
    return b"-> X25519 " + _base64(share) + b"\n" + _base64(body) + b"\n"


@dataclass
class Opened:
    """What an age file held."""

    stanza_count: int
    binding: bytes
    payload: bytes


def open_file(file: bytes, private: bytes, version: int = 1) -> Opened:
    """Opens a file that is sealed to the agreement key of an identity of this version, and proves all of it."""
    if not file.startswith(_INTRO):
        raise FormatError("no age v1 file")
    unsigned_end = file.index(b"\n---") + 4
    header_end = file.index(b"\n", unsigned_end) + 1
    stanzas = _stanzas(file[len(_INTRO) : unsigned_end - 3], _KINDS[version])
    file_key = _file_key(stanzas, private, version)
    mac = hmac.digest(keys.derived(file_key, b"", b"header"), file[:unsigned_end], "sha256")
    if file[unsigned_end:header_end] != b" " + _base64(mac) + b"\n":
        raise FormatError("the MAC of an age header does not fit")
    nonce = file[header_end : header_end + 16]
    payload = _payload(file[header_end + 16 :], keys.derived(file_key, nonce, b"payload"))
    return Opened(len(stanzas), binding(file[:header_end], nonce), payload)


def _stanzas(text: bytes, kind: bytes) -> list[tuple[bytes, bytes]]:
    """Share and body of each stanza; all are of this kind."""
    lines = text.split(b"\n")[:-1]
    found = []
    for head, body in zip(lines[::2], lines[1::2], strict=True):
        arguments = head.split(b" ")
        if arguments[:2] != [b"->", kind] or len(arguments) != 3 or len(body) != 43:
            raise FormatError("a stanza of another kind")
        found.append((_from_base64(arguments[2]), _from_base64(body)))
    return found


def _file_key(stanzas: list[tuple[bytes, bytes]], private: bytes, version: int) -> bytes:
    for share, body in stanzas:
        try:
            if version == 2:
                return hybrid.opened(private, share, _HYBRID_INFO, body)
            salt = share + keys.agreement_public(private)
            return keys.opened(keys.derived(keys.agreed(private, share), salt, _INFO), keys.ZERO_NONCE, body)
        except InvalidTag:
            continue
    raise FormatError("no stanza is for this key")


def _payload(sealed: bytes, key: bytes) -> bytes:
    chunks = [sealed[start : start + _CHUNK + _TAG] for start in range(0, len(sealed), _CHUNK + _TAG)]
    plain = []
    for number, chunk in enumerate(chunks):
        is_last = number == len(chunks) - 1
        plain.append(keys.opened(key, number.to_bytes(11, "big") + bytes([is_last]), chunk))
    if not plain or (len(plain) > 1 and not plain[-1]):
        raise FormatError("an age payload without a final chunk")
    return b"".join(plain)
