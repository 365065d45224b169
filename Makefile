# make run    builds bin/selfplay and starts the loop on this machine
# make test   runs every test
# make check  what must be green before a commit (under two minutes)

GO      ?= go
BIN     := bin/selfplay
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)

# Packages whose tests are worth the race detector's slowness, the longest one first.
RACE := ./selfplay ./trainer/... ./ab ./bus ./dataset ./generate ./internal/parallel ./match ./match/book ./planes/native ./observe ./replay ./uci/...

.PHONY: build run test check fmt vet staticcheck deadcode lint short race fuzz bench generate golden cross twins runtimes loop interop web browser amx arm64 release vuln pgo clean

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/selfplay

run: build
	$(BIN) --variant crazyhouse

test:
	$(GO) test ./...

# Without the profile, by which everything the program depends on is compiled a second time.
check: export GOFLAGS += -pgo=off
check: fmt vet staticcheck deadcode lint short

fmt:
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "gofmt needed:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...
	$(GO) vet -tags interop ./internal/interop

staticcheck:
	$(GO) tool staticcheck ./...

# Functions that no command and no test reaches.
deadcode:
	@out=$$($(GO) tool deadcode -test ./...) || exit 1; if [ -n "$$out" ]; then echo "dead code:"; echo "$$out"; exit 1; fi

lint:
	$(GO) test ./internal/lint

short:
	$(GO) test -short ./...

race:
	$(GO) test -race -short -timeout 25m $(RACE)

# FUZZTIME applies to each target.
FUZZTIME ?= 10s
fuzz:
	scripts/fuzz.sh $(FUZZTIME)

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Rewrites the assembly of package kernel from its generator.
generate:
	$(GO) generate ./kernel

# Takes the profile anew by which the compiler lays out the program (searches 1.05 times as fast):
# of games, searches with nets of two architectures, and learning. A minute or two.
pgo: build
	dir=$$(mktemp -d) && \
		$(BIN) gensfen --player builtin --nodes 250 --hash 2 --threads 1 --seed 1 --count 60000 --output $$dir/games.chain --cpuprofile $$dir/games && \
		$(BIN) learn $$dir/games.chain --preset fairy --epochs 1 --batch 1024 --workers 1 --out $$dir/fairy --cpuprofile $$dir/learn && \
		$(BIN) bench --depth 12 --cpuprofile $$dir/search && \
		$(BIN) bench --depth 10 --net $$dir/fairy --cpuprofile $$dir/fairysearch && \
		$(GO) tool pprof -proto $$dir/games $$dir/learn $$dir/search $$dir/fairysearch >cmd/selfplay/default.pgo && rm -rf $$dir

# Rewrites the golden files of every package whose tests can.
golden:
	$(GO) test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -n1 dirname | sort -u) -update

# The platforms without assembly, or with another system, build as plainly.
cross:
	for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do \
		echo "$$target" && CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -pgo=off ./... && \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) vet ./kernel || exit 1; \
	done

# Fast paths checked against their definitions as they go, and the plain Go
# kernels in place of assembly.
twins:
	$(GO) test -short -tags invariants ./kernel ./nnue/... ./ab
	$(GO) test -short -tags purego ./kernel ./nnue/... ./trainer/nnuefit

# The kernels of AMX, its instructions emulated on a processor with AVX-512, and the nets
# that they compute.
amx:
	@grep -q avx512_vnni /proc/cpuinfo || { echo "no AVX-512 with VNNI here, which the kernels of AMX need, too: not tested"; exit 0; }; \
		$(GO) build -pgo=off -o bin/emulate ./kernel/emulate && \
		$(GO) test -short -tags amxemulated -exec "$(CURDIR)/bin/emulate" ./kernel -args -level amx && \
		$(GO) test -short -tags amxemulated -exec "$(CURDIR)/bin/emulate" ./planes/native

# The kernels of arm64 on an emulated processor, with the dot product and without,
# and the nodes of a search there as here. Needs qemu-user; with
# binutils-aarch64-linux-gnu the encoding of instructions is compared, too.
arm64: build
	$(GO) test -C kernel/gen ./arm64
	GOARCH=arm64 $(GO) test -run TestBest -exec "qemu-aarch64 -cpu max" ./kernel -args -level dotprod
	GOARCH=arm64 $(GO) test -run TestBest -exec "qemu-aarch64 -cpu cortex-a72" ./kernel -args -level neon
	GOARCH=arm64 $(GO) test -short -timeout 30m -exec "qemu-aarch64 -cpu max" ./kernel ./nnue/... ./planes/native
	GOARCH=arm64 $(GO) test -short -timeout 30m -exec "qemu-aarch64 -cpu cortex-a72" -skip 'TestReplay$$' ./kernel ./nnue
	GOARCH=arm64 $(GO) build -o $(BIN)-arm64 ./cmd/selfplay
	want=$$($(BIN) bench | grep nodes) && got=$$(qemu-aarch64 $(BIN)-arm64 bench | grep nodes) && \
		echo "found $$got, expected $$want" && [ "$$got" = "$$want" ]

# The runtime of plane nets that is not in the plain build, ONNX Runtime. It needs
# cgo, and its tests its library: make runtimes ORT=/path/to/libonnxruntime.so
runtimes:
	$(GO) vet -tags ort ./planes/ort ./planes/runtimes
	$(if $(ORT),$(GO) test -tags ort ./planes/ort ./planes/runtimes -args -library $(ORT))

# Nothing to a republished net that the actor has loaded, in under a minute.
loop: build
	dir=$$(mktemp -d) && $(BIN) --preset tiny --dir $$dir/run --until-generation 2 --for 60s && rm -rf $$dir

# Static programs for four platforms with checksums and SBOMs in dist, each built twice
# and compared.
release:
	scripts/release.sh dist

# Known vulnerabilities in what the program calls. Passes, and says so, where their
# database cannot be reached.
vuln:
	scripts/vuln.sh

clean:
	rm -rf bin dist

# Other people's programs load our nets and agree with us. Needs Node.js and npm.
interop:
	npm ci --prefix internal/interop --ignore-scripts --no-audit --no-fund
	$(GO) test -count=1 -tags interop ./internal/interop

# Builds the page of package dash anew, whose files are committed. Needs Node.js 20 or
# newer and npm.
web:
	npm ci --prefix dash/web --ignore-scripts --no-audit --no-fund
	npm run --prefix dash/web build

# The page of package dash in Chromium, that of the system: its views on a real run, what
# they look like, and that everybody can use them. Needs Node.js 20 or newer, npm, chromium
# and fonts-dejavu-core. UPDATE=1 takes the pictures anew; look at them before you commit.
browser: build
	npm ci --prefix dash/web --ignore-scripts --no-audit --no-fund
	npm run --prefix dash/web browser -- $(if $(UPDATE),--update-snapshots=changed)
