#!/usr/bin/env bash
# Builds the programs of a release into a directory: static, the same bytes whoever
# builds them from the same commit with the same Go, with their SHA-256 sums and an SBOM
# (CycloneDX) of each, which is the same, too. It builds each twice, the second time from a copy of the source in
# another directory with an empty build cache, and fails if the bytes differ.
#
#   scripts/release.sh OUT [VERSION]
#
# PLATFORMS overrides the platforms, SECOND=no leaves out the second build.
set -euo pipefail
. "$(dirname "$0")/usage.bash"
most 2 $#
case ${1:-} in '' | -*) refuse "found '${1:-}', expected a directory" ;; esac
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
version=${2:-$(git describe --always --dirty)}
platforms=${PLATFORMS:-linux/amd64 linux/arm64 darwin/arm64 windows/amd64}
second=${SECOND:-yes}
sbom=github.com/CycloneDX/cyclonedx-gomod

mkdir -p "$out"
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT

# In a module of its own, which asks for that version alone: go run sbom@version wants the
# list of all versions, which not every module proxy gives.
mkdir "$scratch/sbom"
printf 'module sbom\n\ngo 1.26\n\nrequire %s v1.10.0\n' "$sbom" >"$scratch/sbom/go.mod"

# build PLATFORM FILE builds the program of the working directory.
build() {
	CGO_ENABLED=0 GOOS=${1%/*} GOARCH=${1#*/} GOAMD64=v1 GOARM64=v8.0 GOFLAGS= \
		go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$2" ./cmd/selfplay
}

when=$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
names=()
for p in $platforms; do
	name=selfplay-$version-${p%/*}-${p#*/}
	[ "${p%/*}" = windows ] && name=$name.exe
	echo "$name"
	build "$p" "$out/$name"
	names+=("$name")
	if [ "$second" = yes ]; then
		mkdir -p "$scratch/source"
		git ls-files -z | tar --null --files-from - --create --file - | tar --extract --file - --directory "$scratch/source"
		(cd "$scratch/source" && GOCACHE="$scratch/cache" build "$p" "$scratch/again")
		cmp "$out/$name" "$scratch/again"
		rm -rf "$scratch/source" "$scratch/again"
	fi
	(cd "$scratch/sbom" && GOFLAGS=-mod=mod go run "$sbom/cmd/cyclonedx-gomod" bin -json -noserial -output "$out/$name.cdx.json" "$out/$name")
	# The time of the commit, so that two people make the same file.
	sed -i "s/^    \"timestamp\": .*/    \"timestamp\": \"$when\",/" "$out/$name.cdx.json"
done
(cd "$out" && sha256sum "${names[@]}" "${names[@]/%/.cdx.json}" >SHA256SUMS)
cat "$out/SHA256SUMS"
