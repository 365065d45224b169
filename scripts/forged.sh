#!/usr/bin/env bash
# How many games an actor that forges gets into a run until the verifier excludes it,
# by what is forged; until it tells of an actor whose games it cannot verify; and what
# verifying costs beside playing. Prints Go benchmarks: games/caught and games/told are
# means over the trials; %-of-playing is the cost beside the CPU time of playing.
#
#   scripts/forged.sh [go-test-flag...]
set -euo pipefail
. "$(dirname "$0")/usage.bash"
cd "$(dirname "$0")/.."
go test ./selfplay -run '^$' -bench 'ForgedUntilCaught|UnverifiableUntilTold|Screen|VerifyCost' "$@"
