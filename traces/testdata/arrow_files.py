"""Reads trace files with pyarrow, by footer and as a stream, and prints the rows and the note of each."""

import json
import sys

import pyarrow.ipc

for path in sys.argv[1:]:
    with pyarrow.memory_map(path) as source:
        table = pyarrow.ipc.open_file(source).read_all()
    table.validate(full=True)
    with open(path, "rb") as f:
        f.seek(8)  # past the magic an Arrow file is a stream
        stream = pyarrow.ipc.open_stream(f).read_all()
    stream.validate(full=True)
    assert stream.equals(table), path
    assert all(stream[c].null_count == sum(not v.is_valid for v in stream[c]) for c in stream.column_names if len(stream) < 1000), path
    print(f"{table.num_rows} rows, {json.loads(table.schema.metadata[b'wavetank.meta'])['notes'][0]}")
