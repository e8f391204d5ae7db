"""Prints what pyarrow, Polars and DuckDB find in a trace file, a JSON object a line."""

import json
import sys

import duckdb
import polars
import pyarrow.feather

path = sys.argv[1]


def say(reader, rows, columns, prompt_sum, prompt_nulls, runs, apps):
    print(json.dumps({"reader": reader, "rows": rows, "columns": columns, "prompt_sum": prompt_sum,
                      "prompt_nulls": prompt_nulls, "runs": runs, "apps": apps}))


trace = pyarrow.feather.read_table(path)
prompt = trace["prompt_tokens"]
say("pyarrow", trace.num_rows, trace.column_names, sum(v for v in prompt.to_pylist() if v is not None),
    prompt.null_count, sum(len(b) for b in trace["blocks"].to_pylist() if b is not None),
    len(set(trace["app"].to_pylist()) - {None}))

frame = polars.read_ipc(path)
say("polars", frame.height, frame.columns, frame["prompt_tokens"].cast(polars.Int64).sum(),
    frame["prompt_tokens"].null_count(), frame["blocks"].list.len().sum(), frame["app"].drop_nulls().n_unique())

row = duckdb.sql("select count(*), sum(prompt_tokens::bigint), count(*) - count(prompt_tokens),"
                 " sum(len(blocks)), count(distinct app) from trace").fetchall()[0]
say("duckdb", row[0], duckdb.sql("from trace limit 0").columns, int(row[1]), row[2], int(row[3]), row[4])
