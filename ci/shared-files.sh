#!/usr/bin/env bash
# Runs the tool on session files that are not part of this repository.
#
#   ci/shared-files.sh DIR         DIR holds real/ and field/inputs/ with their verdicts-gjc-0.15.0.tsv
#
# 1. `records` yields as many records as the verdict tables say the loader kept, patches and refused headers aside.
# 2. No command panics on any of the files.
# 3. Writing is stable, in both releases: what `migrate` wrote, the next `migrate` leaves as it is; and a file of version 5 from which nothing
#    had to be dropped is loaded afterwards as it was before.
set -uo pipefail
cd "$(dirname "$0")/.."
shared=$1
cargo build --locked --quiet --bin gjc-fsck
fsck=${CARGO_TARGET_DIR:-target}/debug/gjc-fsck
failures=0
checked=0

for file in "$shared"/real/*.jsonl "$shared"/field/inputs/*.jsonl; do
  for command in records replay "replay --json" migrate "migrate --json" context "context --json" "context --as-model" tree "tree --json" dump \
    "diff --version-5" "check --format json" "check --format human" "check --format concise"; do
    # shellcheck disable=SC2086
    output=$($fsck $command "$file" 2>&1 > /dev/null)
    status=$?
    if [ "$status" -ge 64 ] || grep -q 'panicked at' <<< "$output"; then
      echo "FAIL $command $file: status $status"
      failures=$((failures + 1))
    fi
  done
  checked=$((checked + 1))
done

# Records are what the lenient reader yields; entries are records without patches. A row without a number threw or was refused.
expect() { # file, expected number of entries
  local records patches
  records=$($fsck records "$1" | wc -l)
  patches=$($fsck records "$1" | grep -cE '^\{"type":"(header_patch|entry_patch)"')
  if [ $((records - patches)) -ne "$2" ]; then
    echo "FAIL records $1: $records records, $patches of them patches, the table says $2 entries"
    failures=$((failures + 1))
  fi
}
while IFS=$'\t' read -r file parsed rest; do
  [[ $parsed =~ ^[0-9]+$ ]] && [ "$parsed" -gt 0 ] || continue
  n=$($fsck records "$shared/real/$file" | wc -l)
  if [ "$n" -ne "$parsed" ]; then
    echo "FAIL records $file: $n, the table says $parsed"
    failures=$((failures + 1))
  fi
done < <(tail -n +2 "$shared/real/verdicts-gjc-0.15.0.tsv")
while IFS=$'\t' read -r file entries rest; do
  [[ $entries =~ ^[0-9]+$ ]] && [ "$entries" -gt 0 ] || continue
  expect "$shared/field/inputs/$file.jsonl" "$entries"
done < <(tail -n +2 "$shared/field/inputs/verdicts-gjc-0.15.0.tsv")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
written=0
kept=0
for release in 0.15 0.17; do
  for file in "$shared"/real/*.jsonl "$shared"/field/inputs/*.jsonl; do
    rm -f "$work"/*
    $fsck migrate --gjc $release "$file" -o "$work/once" > /dev/null 2> "$work/said"
    [ -e "$work/once" ] || continue # gjc loads nothing of it; the tables above say of which files
    written=$((written + 1))
    $fsck migrate --gjc $release "$work/once" -o "$work/twice" > /dev/null 2>&1
    if ! cmp -s "$work/once" "$work/twice"; then
      echo "FAIL migrate --gjc $release $file: the second time changes what the first wrote"
      failures=$((failures + 1))
    fi
    # What had to be dropped or cannot be opened is said on stderr.
    if [ ! -s "$work/said" ] && head -n 1 "$file" | grep -q '"version":5[,}]'; then
      kept=$((kept + 1))
      if ! cmp -s <($fsck replay --gjc $release --json "$file") <($fsck replay --gjc $release --json "$work/once"); then
        echo "FAIL replay --gjc $release $file: loaded otherwise after it was written"
        failures=$((failures + 1))
      fi
    fi
  done
done
echo "written twice: $written files; $kept of version 5 loaded again as they were"
if [ "$written" -lt 100 ] || [ "$kept" -lt 50 ]; then
  echo "FAIL too few files were written ($written) or compared ($kept)"
  failures=$((failures + 1))
fi

echo "$checked files, $failures failures"
echo "$((checked - failures)) passed, $failures failed"
[ "$failures" -eq 0 ]
