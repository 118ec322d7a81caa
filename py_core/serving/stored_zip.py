"""A zip archive whose bytes depend on its members only.

Takes names and contents; gives the archive. Members are stored, not deflated: zlib's output
differs between the builds that Pythons carry, and one changed byte would change the wheel's hash,
the asset list and the page's version. Dates are the format's first, order is by name, and no
attribute tells the system that wrote it. Python's own writer puts such things in by itself and
may change what it puts.
"""

import struct
import zlib
from collections.abc import Mapping
from typing import Final

_FIRST_DATE: Final = (0, 0x0021)  # 00:00:00 on 1980-01-01, as MS-DOS writes time and date
_VERSION: Final = 20
_UTF8_NAMES: Final = 0x0800
_REGULAR_FILE: Final = 0o100644 << 16
_UNIX: Final = 3 << 8


def write_stored_zip(members: Mapping[str, bytes], *, last: str = "") -> bytes:
    """Write an archive in the order of names, with the member `last` at its end.

    Source: the .ZIP File Format Specification, sections 4.3.7, 4.3.12 and 4.3.16.
    """
    body = bytearray()
    directory = bytearray()
    for name in sorted(members, key=lambda name: (name == last, name)):
        content = members[name]
        encoded = name.encode()
        common = struct.pack(
            "<HHHHHIIIHH",
            *(_VERSION, _UTF8_NAMES, 0, *_FIRST_DATE),
            *(zlib.crc32(content), len(content), len(content), len(encoded), 0),
        )
        directory += b"PK\x01\x02" + struct.pack("<H", _UNIX | _VERSION) + common
        directory += struct.pack("<HHHII", 0, 0, 0, _REGULAR_FILE, len(body)) + encoded
        body += b"PK\x03\x04" + common + encoded + content
    count = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + b"PK\x05\x06" + end)
