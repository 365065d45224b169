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
# With MARGIN=25 the script goes on until every rating is known to ± 25 Elo, by pairs of
# games: again and again "rate --plan" says which two players of the list have to play, as
# those games lower the errors most for their time, and these two play up to 40 more. It
# ends with exit code 1 if no games between players of the list help any more, as those of
# players more than 400 Elo apart.
#
# Environment: SELFPLAY is our program, by default built from this tree; ANCHOR is
# NAME=ELO for rate, by default none: the mean is 0 then; MARGIN as above, by default none.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
if [ $# -lt 3 ]; then
  refuse "found $# arguments, expected 3 at least"
fi
list=$1 games=$2 dir=$3
shift 3
flags=("$@")
readable "$list"
whole games "$games"
if [ -n "${MARGIN:-}" ] && ! [[ $MARGIN =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
  refuse "found MARGIN=$MARGIN, expected a number of Elo"
fi

names=() players=()
while read -r name text || [ -n "$name" ]; do
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

mkdir -p "$dir"
if [ -z "${SELFPLAY:-}" ]; then
  SELFPLAY=$(realpath "$dir")/selfplay
  [ -e "$SELFPLAY" ] || (cd "$(dirname "$0")/.." && go build -o "$SELFPLAY" ./cmd/selfplay)
fi

# played I J: prints how many games two players of the list have played. A line of a log is
# a pair of games.
played() {
  local log=$dir/${names[$1]}_vs_${names[$2]}.jsonl pairs=0
  [ ! -e "$log" ] || pairs=$(grep -c '"pair":' "$log" || true)
  echo $((2 * pairs))
}

# meet I J GAMES: has two players of the list play until they have played that many games.
meet() {
  local match=$dir/${names[$1]}_vs_${names[$2]}
  "$SELFPLAY" match "${players[$1]}" "${players[$2]}" --games "$3" --log "$match.jsonl" --pgn "$match.pgn" "${flags[@]}" >"$match.table"
  printf '%s vs %s: %s games, ' "${names[$1]}" "${names[$2]}" "$3"
  grep '^Elo: ' "$match.table"
  grep ' failed in ' "$match.table" >&2 || true # of games lost on time or by no answer, not on the board
}

# ratings: rates all players by all games of the directory, and with MARGIN says which
# games are worth most. The games give their time, which the logs do not.
ratings() {
  "$SELFPLAY" rate "$dir"/*_vs_*.pgn --no-replay ${ANCHOR:+--anchor "$ANCHOR"} --plot "$dir/ratings.svg" \
    ${MARGIN:+--plan "$MARGIN" "${names[@]/#/--plan-for=}" "${names[@]/#/--plan-among=}"} >"$dir/ratings.txt"
}

# next: prints the two players who have to play next, as numbers of the list, and how many
# games, or nothing if no games help.
next() {
  awk -v list="${names[*]}" '
    BEGIN { n = split(list, name); for (i = 1; i <= n; i++) number[name[i]] = i - 1 }
    /^plan for/ { plan = 1 }
    plan && $3 in number && $4 in number {
      i = number[$3]; j = number[$4]
      print i < j ? i " " j : j " " i, $1 < 40 ? $1 : 40
      exit
    }' "$dir/ratings.txt"
}

for ((j = 1; j < ${#names[@]}; j++)); do
  for ((i = 0; i < j; i++)); do
    before=$(played $i $j)
    meet $i $j $((before > games ? before : games))
  done
done
ratings
while [ -n "${MARGIN:-}" ]; do
  pair=$(next)
  [ -n "$pair" ] || break
  read -r i j more <<<"$pair"
  before=$(played "$i" "$j")
  meet "$i" "$j" $((before + more))
  if [ "$(played "$i" "$j")" -eq "$before" ]; then
    echo "rating-list: found no openings left for ${names[i]} and ${names[j]}, expected more games: give a larger one with --book" >&2
    exit 1
  fi
  ratings
done
cat "$dir/ratings.txt"
if [ -n "${MARGIN:-}" ] && grep -q '^plan for' "$dir/ratings.txt"; then
  echo "rating-list: found errors above ± $MARGIN that no games between players of $list bring down, expected players at most 400 Elo apart and an ANCHOR without a deviation: add players between them, or leave out who is too far away" >&2
  exit 1
fi
