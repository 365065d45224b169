#!/usr/bin/env bash
# Training samples a second at full speed, of the trainer in three places: in the loop;
# as a process of its own on the replay role's directory; and on another directory, with
# a copy of the window over the bus. All train on the same games, beside one actor. Prints
# a line a round and the ratios to the loop.
# Usage: scripts/trainer-apart.sh [ROUNDS] [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-4} seconds=${2:-32}
dir=$(mktemp -d)
server="" pids=()
stop() { for p in "${pids[@]}"; do kill -9 "$p" 2>>"$dir/log" && wait "$p" 2>>"$dir/log" || true; done; pids=(); }
trap 'stop; if [ -n "$server" ]; then kill -9 "$server"; fi; rm -rf "$dir"' EXIT
trap 'exit 130' INT # the loop that makes the games ends in order, with 0
trap 'exit 143' TERM
start() { "$@" >"$out" 2>>"$dir/log" & pids+=($!); }

go build -o "$dir/selfplay" ./cmd/selfplay
go build -o "$dir/nats-server" github.com/nats-io/nats-server/v2
"$dir/selfplay" --dir "$dir/base" --seed 1 --set run.id=apart --set run.name=apart --set actor.nodes=15 \
	--set train.min_positions=1000000000 --games 3000 --json >>"$dir/log" 2>&1 || { tail -3 "$dir/log" >&2; exit 1; }
"$dir/nats-server" -js -sd "$dir/js" -a 127.0.0.1 -p 42229 >>"$dir/log" 2>&1 &
server=$!
on=(--nats nats://127.0.0.1:42229 --run apart --json)
full=(--set train.min_positions=100000 --set train.samples_per_row=1000 --set train.steps_per_net=1000000
	--set train.checkpoint=1000000 --set actor.nodes=1000000 --set actor.workers=1)

# rate WHERE prints samples a second, the mean of the last 15 seconds.
rate() {
	local where=$1 d="$dir/$1"
	rm -rf "$d" "$dir/games" "$dir/actor"
	cp -r "$dir/base" "$d"
	out="$dir/$where.out"
	if [ "$where" = loop ]; then
		start "$dir/selfplay" --dir "$d" "${on[@]}" "${full[@]}"
	else
		start "$dir/selfplay" trainer --dir "$d" "${on[@]}" "${full[@]}"
		local games="$d"
		if [ "$where" = apart ]; then
			games="$dir/games"
			mkdir "$games"
			mv "$d/replay" "$d/run.json" "$games/"
			cp "$games/run.json" "$d/"
		fi
		out="$dir/replay.out"
		start "$dir/selfplay" replay --dir "$games" "${on[@]}"
		out="$dir/actor.out"
		start "$dir/selfplay" actor --dir "$dir/actor" --workers 1 "${on[@]}"
	fi
	sleep "$seconds"
	stop
	grep -o '"samples_per_s":[0-9]*' "$dir/$where.out" | tail -1 | cut -d: -f2
}

for round in $(seq "$rounds"); do
	loop=$(rate loop) beside=$(rate beside) apart=$(rate apart)
	awk -v n="$round" -v l="$loop" -v b="$beside" -v a="$apart" \
		'BEGIN { printf "round %d: loop %d, replay'"'"'s directory %d (%.2f), another %d (%.2f)\n", n, l, b, b / l, a, a / l }'
done
