"""Decompresses frames with the zstd that pyarrow brings along, and says which are not what they should be.

The file has, of each: its content's length, its own, the content's SHA-256, and the frame.
"""

import hashlib
import struct
import sys

import pyarrow

codec, bad = pyarrow.Codec("zstd"), 0
data = open(sys.argv[1], "rb").read()
at = n = 0
while at < len(data):
    size, length = struct.unpack_from("<II", data, at)
    want, frame = data[at + 8:at + 40], data[at + 40:at + 40 + length]
    try:
        ok = hashlib.sha256(codec.decompress(frame, decompressed_size=size)).digest() == want
    except OSError as e:
        ok = e
    if ok is not True:
        print(f"frame {n}, of {size} bytes: {ok}")
        bad += 1
    at, n = at + 40 + length, n + 1
sys.exit(f"{bad} of {n} frames" if bad or not n else 0)
