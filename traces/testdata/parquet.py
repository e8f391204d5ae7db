"""Reads a Parquet trace with pyarrow, Polars and DuckDB, and has each write it anew in its own ways.

Prints the files it wrote into the directory that is its second argument, one a line.
"""

import os
import sys

import duckdb
import polars
import pyarrow.parquet

path, out = sys.argv[1:]
trace = pyarrow.parquet.read_table(path)
trace.validate(full=True)
assert pyarrow.parquet.read_table(path, page_checksum_verification=True).equals(trace)


def say(name, write):
    to = os.path.join(out, name + ".parquet")
    write(to)
    print(to, flush=True)


flat = [n for n in trace.column_names if trace.schema.field(n).type in (pyarrow.int32(), pyarrow.int64())]
text = [n for n in trace.column_names if trace.schema.field(n).type == pyarrow.string()]
ways = {
    "pyarrow-snappy": {},
    "pyarrow-zstd": {"compression": "zstd", "data_page_version": "2.0"},
    "pyarrow-gzip": {"compression": "gzip", "use_dictionary": False, "row_group_size": 77},
    "pyarrow-none": {"compression": "none", "version": "1.0", "data_page_size": 100, "write_page_checksum": True},
    "pyarrow-delta": {"use_dictionary": False,
                      "column_encoding": {**{n: "DELTA_BINARY_PACKED" for n in flat}, **{n: "DELTA_LENGTH_BYTE_ARRAY" for n in text}}},
    "pyarrow-delta-text": {"use_dictionary": False, "data_page_version": "2.0",
                           "column_encoding": {**{n: "BYTE_STREAM_SPLIT" for n in flat}, **{n: "DELTA_BYTE_ARRAY" for n in text}}},
}
for name, options in ways.items():
    say(name, lambda to: pyarrow.parquet.write_table(trace, to, **options))

frame = polars.read_parquet(path)
assert frame.height == trace.num_rows and frame.columns == trace.column_names
assert frame["prompt_tokens"].null_count() == trace["prompt_tokens"].null_count
for compression in "zstd", "snappy", "gzip", "uncompressed":
    say("polars-" + compression, lambda to: frame.write_parquet(to, compression=compression))

rows = duckdb.sql(f"from '{path}'")
assert rows.columns == trace.column_names and len(rows) == trace.num_rows
assert rows.sum("prompt_tokens::hugeint").fetchall()[0][0] == sum(v for v in trace["prompt_tokens"].to_pylist() if v is not None)
for version in "V1", "V2":
    say("duckdb-" + version.lower(),
        lambda to: duckdb.sql(f"copy (from '{path}') to '{to}' (format parquet, compression zstd, parquet_version {version})"))
