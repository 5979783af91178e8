#!/usr/bin/env bash
# Measures the full check of transcripts against `jq -c .` on the same files, in the same run.
#
#   ci/bench.sh [MEGABYTES]        (default 220)
#
# Readers that only parse (`ci/peers/`) run on the same files too, where they are on the machine: Python's `json`, DuckDB's
# `json_valid` (the Python module) and `JSON.parse` of bun, the runtime of gjc.
#
# Then time and peak memory, each beside its limit, of one transcript of 1 GiB with 600,000 entries, of agent directories with
# very many small transcripts, of a scope with as many retirement receipts as gjc reads, of 800 MiB of blobs, and of an empty
# agent directory.
#
# Needs cargo, jq and GNU time (/usr/bin/time). Writes reports/bench.md. The corpus is generated, deterministic and healthy; the two commands run
# in turn, so that a machine whose speed drifts slows both. Medians and the median of the pairwise ratios are reported.
set -euo pipefail
cd "$(dirname "$0")/.."
megabytes=${1:-220}
runs=5
corpus=target/bench-corpus-$megabytes

cargo build --release --quiet --bin gjc-fsck
cargo build --release --quiet --example bench_corpus --example bench_tree
if [ ! -f "$corpus/.done" ]; then
  rm -rf "$corpus"
  mkdir -p "$corpus"
  target/release/examples/bench_corpus "$corpus/sessions" "$megabytes" > "$corpus/lines.txt"
  touch "$corpus/.done"
fi
lines=$(cat "$corpus/lines.txt")
bytes=$(cat "$corpus"/sessions/*.jsonl | wc -c)

seconds() { # runs the command once and prints its wall seconds
  local begin end
  begin=$(date +%s%N)
  "$@" > /dev/null || true # findings are no failure of the measurement
  end=$(date +%s%N)
  awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.3f", (b - a) / 1e9 }'
}
median() { printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

ours=() theirs=() ratios=()
beside() { # COMMAND…: the check and this command in turn, into ours, theirs and ratios
  local run a b
  ours=() theirs=() ratios=()
  for run in $(seq 0 $runs); do
    a=$(seconds target/release/gjc-fsck check --format concise "$corpus/sessions")
    b=$(seconds "$@")
    [ "$run" -eq 0 ] && continue # the first pair warms the cache
    ours+=("$a") theirs+=("$b")
    ratios+=("$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.1f", b / a }')")
  done
}
peer() { # NAME COMMAND…: a row of the table
  local name=$1
  shift
  "$@" > /dev/null || { echo "$name fails here and is left out" >&2; return 0; }
  beside "$@"
  echo "| $name | $(median "${theirs[@]}") | $(median "${ours[@]}") | $(median "${ratios[@]}") |"
}
peers=$(
  if command -v python3 > /dev/null; then
    peer "Python \`json\` ($(python3 -c 'import platform; print(platform.python_version())'))" python3 ci/peers/python_json.py "$corpus/sessions"
  fi
  if python3 -c 'import duckdb' 2> /dev/null; then
    peer "DuckDB \`json_valid\` ($(python3 -c 'import duckdb; print(duckdb.__version__)'))" \
      python3 ci/peers/duckdb_valid.py "$corpus/sessions" "$(nproc)"
  fi
  if command -v bun > /dev/null; then peer "\`JSON.parse\` of bun ($(bun --version))" bun ci/peers/bun_parse.js "$corpus/sessions"; fi
)
beside jq -c . "$corpus"/sessions/*.jsonl

# Time and peak memory of five warm runs, measured by GNU time: median and least seconds, the largest peak, each beside its
# limit. The limit of memory is the formula: 64 MiB + 2 x threads x the longest line (128 MiB at most) + 48 bytes an entry.
formula() { # LONGEST_LINE ENTRIES
  awk -v l="$1" -v e="$2" -v t="$(nproc)" 'BEGIN { if (l > 134217728) l = 134217728; printf "%d", 65536 + 2 * t * l / 1024 + 48 * e / 1024 }'
}
measured() { # WHAT SECONDS_ALLOWED KIB_ALLOWED COMMAND PATH
  local what=$1 most_seconds=$2 most_kib=$3 command=$4 path=$5 run told
  local samples=target/bench-samples.txt
  : > "$samples"
  for run in $(seq 0 $runs); do
    told=$( { /usr/bin/time -f '%e %M' target/release/gjc-fsck "$command" --format concise "$path" > /dev/null; } 2>&1 | tail -n 1)
    [ "$run" -eq 0 ] || echo "$told" >> "$samples" # the first run warms the cache
  done
  sort -g "$samples" | awk -v what="$what" -v seconds="$most_seconds" -v kib="$most_kib" '
    { time[NR] = $1; if ($2 > peak) peak = $2 }
    END { printf "| %s | %s | %s | %s | %d | %s |\n", what, time[int((NR + 1) / 2)], time[1], seconds, peak, kib }'
}

large=target/bench-large-600k
if [ ! -f "$large/.done" ]; then
  rm -rf "$large"
  mkdir -p "$large"
  target/release/examples/bench_corpus "$large/sessions" 1100 1 600000 > "$large/lines.txt"
  touch "$large/.done"
fi
for tree in 1:50000 200:100000; do
  folder=target/bench-tree-${tree/:/-}
  [ -f "$folder/.done" ] && continue
  rm -rf "$folder"
  target/release/examples/bench_tree "$folder" "${tree%:*}" "${tree#*:}"
  touch "$folder/.done"
done
journals=target/bench-tree-receipts
if [ ! -f "$journals/.done" ]; then
  rm -rf "$journals"
  target/release/examples/bench_tree "$journals" 1 0 50000
  touch "$journals/.done"
fi
blobs=target/bench-tree-blobs
if [ ! -f "$blobs/.done" ]; then
  rm -rf "$blobs"
  target/release/examples/bench_tree "$blobs" 1 1 0 200
  touch "$blobs/.done"
fi
empty=target/bench-tree-empty
target/release/examples/bench_tree "$empty" 0 0
large_lines=$(cut -d ' ' -f 1 "$large/lines.txt")
large_longest=$(sed 's/.*longest \([0-9]*\) B.*/\1/' "$large/lines.txt")
table=$(
  measured "one transcript of $(cat "$large"/sessions/*.jsonl | wc -c) bytes, $(cat "$large/lines.txt")" \
    - "$(formula "$large_longest" "$((large_lines + 1))")" check "$(echo "$large"/sessions/*.jsonl)"
  measured '50,000 transcripts in one scope' - "$(formula 512 100000)" check target/bench-tree-1-50000/agent
  measured '100,000 transcripts in 200 scopes' 10 "$(formula 512 200000)" check target/bench-tree-200-100000/agent
  measured '50,000 `prepared` retirement receipts of absent transcripts in one scope' 0.50 65536 check "$journals/agent"
  measured 'the same with `gc`' - - gc "$journals/agent"
  measured '200 blobs of 4 MiB, each hashed' "$(awk 'BEGIN { printf "%.2f", 200 * 4 * 1048576 / 2.5e9 }')" 65536 check "$blobs/agent"
  measured 'an empty agent directory' 0.01 65536 check "$empty/agent"
)

our=$(median "${ours[@]}") their=$(median "${theirs[@]}") ratio=$(median "${ratios[@]}")
rate() { awk -v b="$bytes" -v s="$1" 'BEGIN { printf "%.3f", b / s / 1e9 }'; }
mkdir -p reports
{
  echo '# Benchmark: full check of transcripts'
  echo
  echo "Made by \`ci/bench.sh\`. Whole processes, wall time, warm cache, the two in turn; medians of $runs runs."
  echo
  echo "* Corpus: $bytes bytes; $lines (generated by \`examples/bench_corpus.rs\`)."
  echo "* Machine: $(nproc) cores, $(uname -m); $(rustc --version); $(jq --version)."
  echo
  echo '| command | seconds | GB/s |'
  echo '|---|---|---|'
  echo "| \`gjc-fsck check\` | $our | $(rate "$our") |"
  echo "| \`jq -c .\` | $their | $(rate "$their") |"
  echo
  echo "The check is **$ratio times** as fast as \`jq -c .\` (pairwise ratios: ${ratios[*]})."
  echo
  if [ -n "$peers" ]; then
    echo '## Beside readers that only parse'
    echo
    echo 'They parse each line, or say whether it could be parsed, which is the first step of the check. Each in turn with the check.'
    echo
    echo '| reader | its median s | ours beside it | ratio |'
    echo '|---|---|---|---|'
    echo "$peers"
    echo
  fi
  echo '## Time and memory'
  echo
  echo "$runs warm runs each. Peak: the largest resident size, as GNU time tells it. Limit of memory: 64 MiB + 2 × threads × min(longest line, 128 MiB) + 48 bytes per entry; for receipts, blobs and an empty directory 64 MiB."
  echo
  echo '| what | median s | least s | limit s | peak KiB | limit KiB |'
  echo '|---|---|---|---|---|---|'
  echo "$table"
} > reports/bench.md
cat reports/bench.md
awk -v r="$ratio" 'BEGIN { if (r < 10) { print "FAIL: less than 10 times jq"; exit 1 } }'
