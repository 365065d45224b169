#!/usr/bin/env bash
# Rates a list of engines on one scale. Every two players of the list meet in a
# match of opening pairs with a log of its own, so a player added to the list later
# plays only its own matches, and the same command goes on after an interruption.
#
#   scripts/rating-list.sh list games directory [match-flag...]
#   ANCHOR=material=0 scripts/rating-list.sh players 100 runs/ratings --tc 1+0.01 --concurrency 1
#
# The list has a player a line: its name, without spaces, then the text of "selfplay
# match" for it, limits and options included. Lines from # are left out. For example:
#
#   material     material,nodes=400
#   ours         runs/fairy,hash=16
#   ours-mcts    mcts:runs/planes/net.onnx
#   fairy-11     uci:fairy-stockfish,UCI_Variant=crazyhouse,Hash=16
#   fairy-net    uci:fairy-head,UCI_Variant=crazyhouse,Hash=16,EvalFile=/nets/crazyhouse.nnue
#   fairy-hand   uci:fairy-head,UCI_Variant=crazyhouse,Hash=16,Use NNUE=false
#   sjeng        xboard:sjeng
#   sunsetter    xboard:sunsetter
#
# Sunsetter oversteps short clocks now and then; by depth it takes any time.
#
# Flags are those of match and give the limits of players without their own. The
# directory keeps logs and games of all matches, ratings.txt and ratings.svg. Ratings are
# by all matches of the directory: a second run with a shorter list and more games adds
# games where they say most, between players of like strength.
#
# Environment: SELFPLAY is our program, by default built from this tree; ANCHOR is
# NAME=ELO for rate, by default none: the mean is 0 then.
set -euo pipefail
if [ $# -lt 3 ]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
list=$1 games=$2 dir=$3
shift 3
mkdir -p "$dir"
if [ -z "${SELFPLAY:-}" ]; then
  SELFPLAY=$(realpath "$dir")/selfplay
  [ -e "$SELFPLAY" ] || (cd "$(dirname "$0")/.." && go build -o "$SELFPLAY" ./cmd/selfplay)
fi

names=() players=()
while read -r name text; do
  case $name in '' | '#'*) continue ;; esac
  if [ -z "$text" ] || [[ $name =~ [^A-Za-z0-9._-] ]]; then
    echo "rating-list: found the line '$name $text' in $list, expected a name of letters, digits, '.', '_' and '-', then a player" >&2
    exit 2
  fi
  names+=("$name") players+=("$text,name=$name")
done <"$list"
if [ ${#names[@]} -lt 2 ]; then
  echo "rating-list: found ${#names[@]} players in $list, expected two at least" >&2
  exit 2
fi

for ((j = 1; j < ${#names[@]}; j++)); do
  for ((i = 0; i < j; i++)); do
    match=$dir/${names[i]}_vs_${names[j]}
    "$SELFPLAY" match "${players[i]}" "${players[j]}" --games "$games" --log "$match.jsonl" --pgn "$match.pgn" "$@" >"$match.table"
    printf '%s vs %s: ' "${names[i]}" "${names[j]}"
    grep '^Elo: ' "$match.table"
    grep ' failed in ' "$match.table" >&2 || true # of games lost on time or by no answer, not on the board
  done
done
"$SELFPLAY" rate "$dir"/*_vs_*.jsonl ${ANCHOR:+--anchor "$ANCHOR"} --plot "$dir/ratings.svg" | tee "$dir/ratings.txt"
