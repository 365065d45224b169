#!/usr/bin/env bash
# Run every fuzz target of the module for a while, two at a time with one worker
# each.
#
#   scripts/fuzz.sh [time of each=10s]
#
# Making inputs that are interesting smaller is kept short: it would take most of
# the time.
#
# The go command now and then fails a target whose time is over with "context
# deadline exceeded" and no failing input: such a run is repeated once.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
most 1 $#
export FUZZ_TIME=${1:-10s}
if ! [[ $FUZZ_TIME =~ ^([0-9]+x|([0-9]+(\.[0-9]+)?(ms|s|m|h))+)$ ]]; then
  refuse "found the time '$FUZZ_TIME', expected one such as 10s, or a number of runs such as 1000x"
fi
cd "$(dirname "$0")/.."

# Prints the whole log of a target at its end, so that two do not mix.
target() {
  local package=$1 name=$2
  log=$(mktemp) # not local: the trap still needs it when the function has returned
  trap 'rm -f "$log"' EXIT
  for attempt in first second; do
    if go test -run '^$' -fuzz "^$name\$" -fuzztime "$FUZZ_TIME" -fuzzminimizetime 50x -parallel 1 "$package" >"$log" 2>&1; then
      echo "ok   $package $name: $(grep -o 'execs: [0-9]*' "$log" | tail -1)"
      return 0
    fi
    if [ "$attempt" = second ] || ! grep -q 'context deadline exceeded' "$log" || grep -q 'Failing input' "$log"; then
      echo "FAIL $package $name"
      cat "$log"
      return 1
    fi
    echo "     $package $name again: the first run ended without a failing input"
  done
}
export -f target

# From the sources: the go command would link the tests of every package to list them.
grep -r --exclude-dir=node_modules --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' . | sed 's|/[^/]*:func | |' | sort |
  xargs -P 2 -L 1 bash -c 'target "$0" "$1"'
