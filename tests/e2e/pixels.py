"""Reads a picture of xwd from standard input: pixels.py bytes|colors [WIDTHxHEIGHT+X+Y]

Prints the pixels of the picture, or of this part of it, four bytes each; or the number of their colors. Without a
picture there are no pixels."""
import re
import struct
import sys


def pixels_of(data, part):
    header = struct.unpack_from(">25I", data)
    header_bytes, width, height, line_bytes, color_count = (header[i] for i in (0, 4, 5, 12, 19))
    left = top = 0
    if part:
        width, height, left, top = map(int, re.match(r"(\d+)x(\d+)\+(\d+)\+(\d+)", part).groups())
    first = header_bytes + 12 * color_count + top * line_bytes + 4 * left
    starts = range(first, first + height * line_bytes, line_bytes)
    return b"".join(data[start:start + 4 * width] for start in starts)


picture = sys.stdin.buffer.read()
pixels = pixels_of(picture, "".join(sys.argv[2:])) if picture else b""
if sys.argv[1] == "bytes":
    sys.stdout.buffer.write(pixels)
else:
    print(len(set(memoryview(pixels).cast("I"))))
