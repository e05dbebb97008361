"""Reads a picture of xwd from standard input: pixels.py bytes|colors [WIDTHxHEIGHT+X+Y]

Prints the pixels of the picture, or of this part of it, four bytes each; or the number of their colors, of which a
hundred are enough. Without a picture there are no pixels."""
import struct
import sys


def pixels_of(data, part):
    header = struct.unpack_from(">25I", data)
    header_bytes, width, height, line_bytes, color_count = (header[i] for i in (0, 4, 5, 12, 19))
    left = top = 0
    if part:
        size, left, top = part.split("+")
        width, height, left, top = map(int, (*size.split("x"), left, top))
    first = header_bytes + 12 * color_count + top * line_bytes + 4 * left
    starts = range(first, first + height * line_bytes, line_bytes)
    return [data[start:start + 4 * width] for start in starts]


def color_count(rows, enough):
    colors = set()
    for row in rows:
        colors.update(memoryview(row).cast("I"))
        if len(colors) >= enough:
            return enough
    return len(colors)


picture = sys.stdin.buffer.read()
rows = pixels_of(picture, "".join(sys.argv[2:])) if picture else []
if sys.argv[1] == "bytes":
    sys.stdout.buffer.write(b"".join(rows))
else:
    print(color_count(rows, 100))
