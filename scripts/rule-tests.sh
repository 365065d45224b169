#!/usr/bin/env bash
# Tests every switch of alpha-beta search by itself, one after the other: the program's
# search with it on against the same with it off, at a fixed number of nodes a move, by a
# sequential test. The prefix late_ tests the switches of late iterations.
#
#   scripts/rule-tests.sh prefix nodes elo1 games directory [match-flag...]
#   scripts/rule-tests.sh '' 400 10 6000 runs/rules
#   scripts/rule-tests.sh late_ 5000 20 1000 runs/rules-late --hash 16
#
# H0 is that having the rule is worth 0 Elo, H1 that it is worth elo1, both with an error
# of 5 %; games are the most of a test. So H1 says that the rule helps, H0 that it is not
# worth elo1, and a test without either that it is somewhere between, or needs more games.
# Elo after a verdict is corrected for the stop.
# The directory keeps a log and a table of every test; the same command goes on after an
# interruption, and prints the rows of all.
#
# Environment: SELFPLAY is our program, by default built from this tree; NET the net that
# both sides have, builtin; ONLY a pattern of the switches to test, such as 'reduce_.*'.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
if [ $# -lt 5 ]; then
  refuse "found $# arguments, expected 5 at least"
fi
prefix=$1 nodes=$2 elo1=$3 games=$4 dir=$5
shift 5
net=${NET:-builtin}
whole nodes "$nodes"
whole games "$games"
if ! [[ $elo1 =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
  refuse "found elo1 '$elo1', expected a number of Elo"
fi
mkdir -p "$dir"
if [ -z "${SELFPLAY:-}" ]; then
  SELFPLAY=$(realpath "$dir")/selfplay
  [ -e "$SELFPLAY" ] || (cd "$(dirname "$0")/.." && go build -o "$SELFPLAY" ./cmd/selfplay)
fi

rules=$("$SELFPLAY" tune --list | awk -v prefix="$prefix" -v only="${ONLY:-.*}" '
  $2 == "false," && $3 == "true" && (prefix == "" ? $1 !~ /^late_/ : index($1, prefix) == 1) &&
  substr($1, length(prefix) + 1) ~ "^(" only ")$" {print $1, $4}')
if [ -z "$rules" ]; then
  echo "rule-tests: found no switches with the prefix '$prefix' and ONLY='${ONLY:-.*}', expected one at least of those that '$SELFPLAY tune --list' has" >&2
  exit 2
fi

printf '| rule | the search has it | on − off, Elo | games | verdict |\n|---|---|---|---|---|\n'
while read -r name default; do
  test=$dir/$name
  status=0
  "$SELFPLAY" match "$net,$name=true,name=on" "$net,$name=false,name=off" --nodes "$nodes" --games "$games" \
    --sprt --elo0 0 --elo1 "$elo1" --log "$test.jsonl" "$@" >"$test.table" 2>"$test.err" || status=$?
  case $status in
  0 | 3) ;;
  *)
    tail -3 "$test.err" >&2
    exit "$status"
    ;;
  esac
  awk -v name="$name" -v has="$default" '
    /^Elo: /{sub(/,$/, "", $4); elo = $2 " ± " $4}
    /^Games: /{gsub(/,/, ""); games = $2}
    /^SPRT: H[01] accepted/{verdict = $2; for (i = 3; i < NF; i++) if ($i == "Elo:" && $(i + 1) ~ /^-?[0-9]/) {elo = $(i + 1) " ± " $(i + 3); sub(/,$/, "", elo)}}
    END{printf "| `%s` | %s | %s | %d | %s |\n", name, has == "true" ? "yes" : "no", elo, games, verdict ? verdict : "none"}' "$test.table"
done <<<"$rules"
