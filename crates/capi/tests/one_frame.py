"""Writes the first frame of a recording as float32 and as float64, in plain Python: one_frame.py FRAMES.npy OUT32.npy OUT64.npy"""

import re
import struct
import sys

data = open(sys.argv[1], "rb").read()
length = struct.unpack("<H", data[8:10])[0] if data[6] == 1 else struct.unpack("<I", data[8:12])[0]
start = (10 if data[6] == 1 else 12) + length
header = data[10:start].decode("latin1")
shape = [int(number) for number in re.search(r"'shape': \(([^)]*)\)", header)[1].replace(" ", "").strip(",").split(",")]
rows, columns = shape[-2:]
numbers = struct.unpack_from(f"<{rows * columns}f", data, start)


def write(path, kind, code):
    text = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin1"))
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))


write(sys.argv[2], "f4", "f")
write(sys.argv[3], "f8", "d")
