"""Substitutes for identities: the same for the same, of the same form, and in the same relation to each other.

Addresses keep their prefixes in common (two addresses that share their first n bits share them afterwards, as in Crypto-PAn, Xu
et al. 2002), their class (private, link-local, loopback, multicast) and their notation. A key made for each run decides.
"""

import hashlib
import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address

_IPV4 = re.compile(r"(?<![\w.])(?P<address>(?:\d{1,3}\.){3}\d{1,3})(?P<prefix>/\d{1,2})?(?![\w]|\.\d)")
_COLONS = re.compile(r"(?<![\w:.])(?P<word>[0-9a-fA-F:]{2,60}(?:(?:\d{1,3}\.){3}\d{1,3})?)(?P<prefix>/\d{1,3})?(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])[0-9a-fA-F]{2}(?:(?P<joint>[:-])[0-9a-fA-F]{2})(?:(?P=joint)[0-9a-fA-F]{2}){4}(?![\w:-])")
_LONG_MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){19}[0-9a-fA-F]{2}(?![\w:])")
_GUID = re.compile(r"(?<![\w:])(?:0x[0-9a-fA-F]{16}|(?:[0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4})(?![\w:])")
_UUID = re.compile(r"(?<!\w)[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])")
_SERIAL = re.compile(r"(?i)(?P<head>\bserial(?:[ _]?(?:number|no))?\b[\"']?\s{0,8}[:=]\s{0,8}[\"']?)(?P<serial>[A-Za-z0-9-]{4,64})")
_KEPT_LABELS = frozenset({
    "localhost", "localdomain", "local", "svc", "cluster", "default", "com", "net", "org", "internal", "example", "invalid", "test", "ip6",
    "localnet", "broadcasthost", "gateway", "host", "docker", "containers", "none", "unknown", "node", "master", "worker",
    "ipv4", "ipv6", "core", "proc", "sys", "class", "kernel", "tcp", "udp", "devices", "module", "linux", "self", "status", "eth0",
})  # fmt: skip
"""Parts of names that identify nobody and on which meaning rests."""

_CLASSES_IN_TWO_OCTETS = frozenset({100, 169, 172, 192})
"""First octets of blocks whose second octet still says what they are: shared, link-local and private addresses."""


class Substitutes:
    """Substitutes under one key; `names` are the host and domain names known to occur."""

    def __init__(self, key: bytes, names: frozenset[str] = frozenset()) -> None:
        self._key = key
        self._bits: dict[tuple[int, int], int] = {}
        known = {label.lower() for name in names for label in name.strip(".").split(".")}
        labels = sorted(
            (one for one in known if len(one) > 2 and one not in _KEPT_LABELS and not one.isdigit()), key=len, reverse=True
        )
        self._names = re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(map(re.escape, labels))})(?![\w-])") if labels else None

    def in_text(self, text: str) -> str:
        """The text with every identity replaced."""
        text = _LONG_MAC.sub(lambda found: self._hex_tail(found[0], 24), text)
        text = _MAC.sub(lambda found: self._mac_text(found[0]), text)
        text = _UUID.sub(lambda found: self._hex_tail(found[0], 32), text)
        text = _GUID.sub(lambda found: self._guid(found[0]), text)
        text = _COLONS.sub(self._ipv6_text, text)
        text = _IPV4.sub(self._ipv4_text, text)
        text = _SERIAL.sub(lambda found: found["head"] + self._alike(found["serial"]), text)
        return (
            self._names.sub(lambda found: "host-" + self._digest(found[0].lower().encode()).hex()[:6], text)
            if self._names
            else text
        )

    def address(self, packed: bytes, prefix_length: int | None = None) -> bytes:
        """The substitute of a binary address; host bits that were zero under its prefix stay zero."""
        bits = len(packed) * 8
        if len(packed) == 16 and packed[:12] == b"\0" * 10 + b"\xff\xff":
            return packed[:12] + self.address(packed[12:])
        kept = _kept_bits(packed)
        if kept >= bits or len(packed) not in (4, 16):
            return packed
        number = int.from_bytes(packed, "big")
        result = 0
        for position in range(bits):
            bit = number >> (bits - 1 - position) & 1
            flip = 0 if position < kept else self._flip(len(packed), number >> (bits - position), position)
            result = result << 1 | (bit ^ flip)
        if prefix_length is not None and 0 <= prefix_length < bits:
            host = (1 << (bits - prefix_length)) - 1
            result = result & ~host if number & host == 0 else result
        return result.to_bytes(len(packed), "big")

    def mac(self, packed: bytes) -> bytes:
        """The substitute of a hardware address: the vendor's half stays."""
        if not any(packed) or packed.strip(b"\xff") == b"" or len(packed) < 6:
            return packed
        kept = 3 if len(packed) == 6 else len(packed) - 5
        return packed[:kept] + self._digest(packed)[: len(packed) - kept]

    def _flip(self, family: int, prefix: int, position: int) -> int:
        known = self._bits.get((family << 8 | position, prefix))
        if known is None:
            known = self._digest(f"{family} {position} {prefix:x}".encode())[0] & 1
            self._bits[family << 8 | position, prefix] = known
        return known

    def _digest(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, key=self._key, digest_size=32).digest()

    def _ipv4_text(self, found: re.Match[str]) -> str:
        return self._address_text(found["address"], found["prefix"], IPv4Address, str) or found[0]

    def _ipv6_text(self, found: re.Match[str]) -> str:
        word = found["word"]
        if word.count(":") < 2:
            return found[0]
        is_long = len(word) == 39
        if not is_long and "." in word:
            head, _, tail = word.rpartition(":")
            return f"{head}:{_IPV4.sub(self._ipv4_text, tail)}{found['prefix'] or ''}"
        shown: Callable[[IPv6Address], str] = (lambda address: address.exploded) if is_long else str
        return self._address_text(word, found["prefix"], IPv6Address, shown) or found[0]

    def _address_text(self, word: str, prefix: str | None, kind: type, shown: Callable[..., str]) -> str | None:
        try:
            packed = kind(word).packed
        except ValueError:
            return None
        length = int(prefix[1:]) if prefix else None
        return shown(kind(self.address(packed, length))) + (prefix or "")

    def _mac_text(self, word: str) -> str:
        joint = word[2]
        packed = self.mac(bytes.fromhex(word.replace(joint, "")))
        substitute = joint.join(f"{byte:02x}" for byte in packed)
        return substitute.upper() if word.upper() == word and word.lower() != word else substitute

    def _guid(self, word: str) -> str:
        return word if not word.strip("0x:") else self._hex_tail(word, 6)

    def _hex_tail(self, word: str, digits: int) -> str:
        """The last hexadecimal digits replaced, everything else in its place."""
        fresh = iter(self._digest(word.lower().encode()).hex()[:digits])
        start = len(word)
        seen = 0
        while start and seen < digits:
            start -= 1
            seen += word[start] in "0123456789abcdefABCDEF"
        return word[:start] + "".join(next(fresh) if letter in "0123456789abcdefABCDEF" else letter for letter in word[start:])

    def _alike(self, word: str) -> str:
        """Letters for letters and digits for digits."""
        digest = self._digest(word.encode())
        letters = []
        for index, letter in enumerate(word):
            number = digest[index % len(digest)]
            if letter.isdigit():
                letters.append(str(number % 10))
            elif letter.isalpha():
                letters.append(chr((ord("A") if letter.isupper() else ord("a")) + number % 26))
            else:
                letters.append(letter)
        return "".join(letters)


def _kept_bits(packed: bytes) -> int:
    """How many leading bits say what kind of address it is; all of them for addresses that identify nobody."""
    if len(packed) == 16:
        is_special = not any(packed[:15]) or packed[0] == 0xFF
        return 128 if is_special else 64 if packed[:2] == b"\xfe\x80" else 16
    first = packed[0]
    if first in (0, 127) or first >= 224:
        return 32
    return 16 if first in _CLASSES_IN_TWO_OCTETS else 8
