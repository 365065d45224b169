#!/usr/bin/env bash
# Kill -9 a tiny run at random moments, restart it each time, and audit the
# replay buffer afterwards: every game that any of the processes finished must
# be there exactly once, and training must have gone on.
#
#   scripts/kill9.sh [kills=30] [directory]
set -euo pipefail
cd "$(dirname "$0")/.."
kills=${1:-30}
dir=${2:-$(mktemp -d)/run}
make -s build

# A game is finished once its file is in the spool: collect every name seen.
seen=$(mktemp)
watch_spool() { while :; do ls "$dir/spool" 2>/dev/null >>"$seen" || true; sleep 0.01; done; }
watch_spool & watcher=$!
trap 'kill $watcher 2>/dev/null || true' EXIT

for i in $(seq "$kills"); do
  bin/selfplay --preset tiny --dir "$dir" >>"$dir.log" 2>&1 & pid=$!
  sleep "$(awk -v r=$RANDOM 'BEGIN { printf "%.2f", 0.3 + r / 32768 * 3.7 }')"
  kill -9 $pid
  wait $pid 2>/dev/null || true
  echo "kill $i of $kills: $(sort -u "$seen" | grep -c '\.game$' || true) games seen in the spool"
done
bin/selfplay --preset tiny --dir "$dir" --for 5s | tail -2
kill $watcher 2>/dev/null || true

bin/selfplay replay audit "$dir/replay"
bin/selfplay replay audit --ids "$dir/replay" | sort >"$dir.stored"
lost=$(sort -u "$seen" | sed -n 's/\.game$//p' | comm -23 - "$dir.stored" | wc -l)
twice=$(uniq -d "$dir.stored" | wc -l)
steps=$(grep -c '"training resumed"' "$dir/events.jsonl" || true)
echo "seen $(sort -u "$seen" | grep -c '\.game$'), stored $(wc -l <"$dir.stored"), lost $lost, twice $twice, training resumed $steps times"
[ "$lost" -eq 0 ] && [ "$twice" -eq 0 ] && [ "$steps" -gt 0 ]
