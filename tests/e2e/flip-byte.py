"""Damages a trace: flip-byte.py TRACE COPY writes a copy with one bit flipped in the middle of its largest part with
events. Prints the position of the block."""
import struct
import sys

PART = 72  # a kind of chunk: packed events (docs/tracefile.md)

data = bytearray(open(sys.argv[1], "rb").read())
largest, size = 0, 0
at = data.find(b"OCHK")
while at >= 0:
    length, kind = struct.unpack_from("<I", data, at + 4)[0], struct.unpack_from("<I", data, at + 16)[0]
    if kind == PART and length > size:
        largest, size = at, length
    at = data.find(b"OCHK", at + 4)
data[largest + 32 + size // 2] ^= 4
open(sys.argv[2], "wb").write(data)
print(largest)
