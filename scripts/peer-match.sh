#!/usr/bin/env bash
# Measures our search against another UCI engine's, both with the same net: at
# equal nodes, and at equal time. For equal time both speeds are measured once, in
# CPU time, and the engines then play with numbers of nodes in that ratio. So the
# clock decides no game, and a busy machine changes no result. The engine has ten
# minutes for an answer.
#
#   scripts/peer-match.sh engine net pairs 'nodes...' directory [match-flag...]
#   scripts/peer-match.sh fairy-stockfish runs/fairy 150 '5000 50000' runs/peer
#   scripts/peer-match.sh fairy-stockfish runs/fairy 30 50000 runs/peer --concurrency 1
#
# The engine is a command for uci:, perhaps with options after commas. It must take
# Fairy-Stockfish's nets (HalfKAv2 512) by the option EvalFile. The net is a file of
# that architecture, or a directory of learn or of a run. Every number of nodes is
# the engine's; each is played twice, with opening pairs from the program's own book.
# The directory keeps net, speeds, logs and games; the same command goes on after an
# interruption and then prints the rows of a table.
#
# Environment: SELFPLAY is our program, by default built from this tree;
# HASH the size of both tables in MiB, 16; PLAY which matches, 'equal scaled'.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
if [ $# -lt 5 ]; then
  refuse "found $# arguments, expected 5 at least"
fi
engine=$1 net=$2 pairs=$3 nodes=$4 dir=$5
shift 5
hash=${HASH:-16}
whole pairs "$pairs"
whole HASH "$hash"
if [ -z "${nodes// /}" ]; then
  refuse "found no numbers of nodes, expected one at least"
fi
for n in $nodes; do whole nodes "$n"; done
for kind in ${PLAY:-equal scaled}; do
  case $kind in
  equal | scaled) ;;
  *) refuse "found $kind in PLAY, expected equal or scaled" ;;
  esac
done
mkdir -p "$dir"
dir=$(realpath "$dir")

if [ -z "${SELFPLAY:-}" ]; then
  SELFPLAY=$dir/selfplay
  [ -e "$SELFPLAY" ] || (cd "$(dirname "$0")/.." && go build -o "$SELFPLAY" ./cmd/selfplay)
fi

# Fairy-Stockfish takes only a net whose file's name begins with the variant's.
file=$dir/crazyhouse.nnue
[ -e "$file" ] || "$SELFPLAY" net export "$net" "$file" >&2

# The ratio is measured once, so that a match that goes on has the limits it began with.
if [ ! -e "$dir/speed" ]; then
  "$SELFPLAY" bench search --net "$file" --peer "${engine%%,*}" --nodes 300000 --hash "$hash" >"$dir/speed.new"
  mv "$dir/speed.new" "$dir/speed"
fi
ratio=$(awk '/^ratio /{print $2}' "$dir/speed")
ratio=${ratio:?"found no ratio in $dir/speed; remove that file and run this again"}

# play NAME OURS THEIRS: a match with these nodes a move, its table in NAME.table.
play() {
  "$SELFPLAY" match "$file,name=ours,nodes=$2,hash=$hash" \
    "uci:$engine,name=peer,nodes=$3,timeout=10m,Hash=$hash,Threads=1,UCI_Variant=crazyhouse,Use NNUE=true,EvalFile=$file" \
    --games $((2 * pairs)) --log "$dir/$1.jsonl" --pgn "$dir/$1.pgn" "${@:4}" >"$dir/$1.table"
  grep ' failed in ' "$dir/$1.table" >&2 || true # of games lost by no answer, not on the board
}

# row NAME OURS THEIRS LIMITS: a row of the table.
row() {
  awk -v ours="$2" -v theirs="$3" -v limits="$4" '
    /^Elo: /{sub(/,$/, "", $4); elo = $2 " ± " $4}
    /^Games: /{gsub(/,/, ""); games = $2; score = $4 "–" $6 "–" $8}
    END{printf "| %s | %d | %d | %s | %d | %s |\n", limits, ours, theirs, elo, games, score}' "$dir/$1.table"
}

for n in $nodes; do
  for kind in ${PLAY:-equal scaled}; do
    case $kind in
    equal) ours=$n limits='equal nodes' ;;
    scaled) ours=$(awk -v n="$n" -v r="$ratio" 'BEGIN{printf "%d", n * r}') limits="equal time, speed ratio $ratio" ;;
    esac
    play "$kind-$n" "$ours" "$n" "$@"
    row "$kind-$n" "$ours" "$n" "$limits" | tee "$dir/$kind-$n.row"
  done
done
