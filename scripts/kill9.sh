#!/usr/bin/env bash
# Kill -9 a tiny run at random moments, restart it each time, and audit the
# replay buffer afterwards: every game that any of the processes finished must
# be there exactly once, no number may be missing from the games of a process's
# worker, and training must have gone on.
#
#   scripts/kill9.sh [kills=30] [directory]
#
# Everything but a directory given is removed at the end, unless a check failed.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
most 2 $#
kills=${1:-30}
whole kills "$kills"
dir=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/.."
temp=$(mktemp -d)
dir=${dir:-$temp/run}
keep='' watcher='' pid=''
cleanup() {
  [ -z "$watcher$pid" ] || kill -9 $watcher $pid 2>/dev/null || true
  wait 2>/dev/null || true # what still writes would hinder rm
  [ -n "$keep" ] || rm -rf "$temp"
}
trap cleanup EXIT
go build -o "$temp/selfplay" ./cmd/selfplay

fail() {
  echo "kill9: $*; see $temp and $dir" >&2
  keep=yes
  exit 1
}

# A game is finished once its file is in the spool: collect every name seen.
touch "$temp/seen"
watch_spool() { while :; do ls "$dir/spool" 2>/dev/null >>"$temp/seen" || true; sleep 0.01; done; }
watch_spool & watcher=$!
finished() { sed -n 's/\.game$//p' "$temp/seen" | sort -u; }

for ((i = 1; i <= kills; i++)); do
  "$temp/selfplay" --preset tiny --dir "$dir" >"$temp/log" 2>&1 & pid=$!
  sleep "$(awk -v r=$RANDOM 'BEGIN { printf "%.2f", 0.3 + r / 32768 * 3.7 }')"
  code=0
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || code=$?
  pid=''
  if [ $code -ne 137 ]; then # 128 + 9: it did not live to be killed
    cat "$temp/log" >&2
    fail "process $i ended by itself with exit code $code"
  fi
  echo "kill $i of $kills: $(finished | wc -l) games seen in the spool"
done
"$temp/selfplay" --preset tiny --dir "$dir" --for 5s >"$temp/last" & pid=$!
wait $pid || fail "the last run failed"
pid=''
tail -2 "$temp/last"
kill $watcher
watcher=''

"$temp/selfplay" replay audit "$dir" || fail "the audit found damage"
"$temp/selfplay" replay audit --ids "$dir" | sort >"$temp/stored"
finished >"$temp/finished"
lost=$(comm -23 "$temp/finished" "$temp/stored" | wc -l)
twice=$(uniq -d "$temp/stored" | wc -l)
steps=$(sed -n '/"net offered"/s/.*"step":\([0-9]*\).*/\1/p' "$dir/events.jsonl")
first=$(head -n 1 <<<"$steps")
last=$(tail -n 1 <<<"$steps")
echo "seen $(wc -l <"$temp/finished"), stored $(wc -l <"$temp/stored"), lost $lost, twice $twice, trained from step ${first:-none} to ${last:-none}"

[ "$lost" -eq 0 ] || fail "$lost games lost"
[ "$twice" -eq 0 ] || fail "$twice games stored twice"
# Ids are RUN-ACTOR-EPOCH-WORKER-NUMBER, numbers from 0.
awk -F- '{ k = $1 "-" $2 "-" $3 "-" $4; n[k]++; if ($5 + 0 > m[k]) m[k] = $5 + 0 }
  END { for (k in n) if (n[k] != m[k] + 1) { print "gap in", k; bad = 1 } exit bad }' "$temp/stored" || fail "numbers are missing"
[ "${last:-0}" -gt "${first:-0}" ] || fail "training did not go on"
