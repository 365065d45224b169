#!/usr/bin/env bash
# Plays a tournament twice: undisturbed, and killed with SIGKILL three times on
# the way and resumed by the same command. The final tables must be the same and
# so must the logs, but for the order of their lines, and every game must be in
# the PGN once.
#
#   scripts/killed-tournament.sh directory match-argument...
#
# The arguments are those of "selfplay match": players with limits of nodes or
# depth and one thread, and flags. The directory keeps logs, games and tables.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
if [ $# -lt 3 ]; then # what was in the directory is removed, so not for nothing
  refuse "found $# arguments, expected a directory and two players at least"
fi
dir=$(realpath -m "$1")
shift
runner=''
trap '[ -z "$runner" ] || kill -9 "$runner" 2>/dev/null || true' EXIT
cd "$(dirname "$0")/.."
mkdir -p "$dir"
rm -f "$dir"/{straight,killed}.*
go build -o "$dir/selfplay" ./cmd/selfplay

fail() {
  echo "killed-tournament: $*; see $dir" >&2
  exit 1
}

# match NAME ARGUMENT...: becomes the match that keeps its files under NAME.
match() {
  local name=$1
  shift
  exec "$dir/selfplay" match "$@" --log "$dir/$name.jsonl" --pgn "$dir/$name.pgn" >"$dir/$name.table" 2>>"$dir/$name.progress"
}

match straight "$@" & runner=$!
wait $runner
runner=''
pairs=$(($(wc -l <"$dir/straight.jsonl") - 1))
echo "straight: $pairs pairs"

for kill in 1 2 3; do
  match killed "$@" & runner=$!
  until [ -f "$dir/killed.jsonl" ] && [ "$(wc -l <"$dir/killed.jsonl")" -gt $((pairs * kill / 4)) ]; do
    kill -0 $runner 2>/dev/null || fail "the match ended by itself before kill $kill"
    sleep 0.05
  done
  kill -9 $runner 2>/dev/null || fail "the match ended by itself before kill $kill"
  wait $runner 2>/dev/null || true
  runner=''
  echo "kill $kill: $(($(wc -l <"$dir/killed.jsonl") - 1)) pairs in the log, $(grep -c '^\[PairId' "$dir/killed.pgn") games in the PGN"
done
match killed "$@" & runner=$!
wait $runner
runner=''

# Where a game begins in the PGN follows from the order, and the sum of a line is of that, too.
for name in straight killed; do
  sed 's/,"pgn":[0-9]*//; s/,"crc32c":"[0-9a-f]*"//' "$dir/$name.jsonl" | sort >"$dir/$name.sorted"
  awk '/^\[Round /{round = $2} /^\[PairId /{print $2, round}' "$dir/$name.pgn" | sort >"$dir/$name.games"
done
cmp "$dir/straight.table" "$dir/killed.table" || fail "the tables differ"
cmp "$dir/straight.sorted" "$dir/killed.sorted" || fail "the logs differ"
cmp "$dir/straight.games" "$dir/killed.games" || fail "the games differ"
[ "$(sort -u "$dir/killed.games" | wc -l)" = $((2 * pairs)) ] || fail "a game is missing or there twice"
cat "$dir/killed.table"
echo "killed three times: the same table, $((2 * pairs)) games each once"
