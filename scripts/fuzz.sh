#!/usr/bin/env bash
# Run every fuzz target of the module for a while.
#
#   scripts/fuzz.sh [time of each=10s]
#
# The go command now and then fails a target whose time is over with "context
# deadline exceeded" and no failing input: such
# a run is repeated once.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fuzz() { go test -run '^$' -fuzz "^$2\$" -fuzztime "$time" "$1" 2>&1 | tee "$log"; }

for package in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    echo "fuzz $package $target"
    fuzz "$package" "$target" && continue
    grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log" || exit 1
    echo "fuzz $package $target again: the first run ended without a failing input"
    fuzz "$package" "$target"
  done
done
