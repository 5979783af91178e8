"""Asks DuckDB which lines of the transcripts in a folder are JSON, on so many threads; `ci/bench.sh` measures the check beside it."""

import sys

import duckdb

folder, threads = sys.argv[1:]
db = duckdb.connect()
db.execute(f"SET threads = {int(threads)}")
# One column that nothing delimits, quotes or escapes: the line.
lines = db.read_csv(
    folder + "/*.jsonl", columns={"line": "VARCHAR"}, delimiter="\x01", quotechar="", escapechar="", header=False, max_line_size=1 << 27
)
print(lines.filter("json_valid(line)").count("*").fetchall()[0][0])
