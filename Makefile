# make help lists the targets. Each installs the system packages it needs, once.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: run test check lint soak build image image-test bench bench-against pictures help go onnx

# Where Go's own installer puts it, for shells that were not told.
export PATH := $(PATH):/usr/local/go/bin

VERSION := $(shell git describe --always --dirty 2>/dev/null || echo development)
# The version is passed in; asking git during the build fails in a checkout that
# belongs to somebody else.
export GOFLAGS := $(GOFLAGS) -buildvcs=false -tags=nolibopusfile

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# What runs without the race detector: code that starts no goroutine, which is ten times as slow under it, and
# in make test also what drives another program, a browser, a database or an engine and waits for that, what
# answers requests one by one (cmd/parley/node has the whole server answer, under the detector), and
# conversations in simulated time. make soak watches all of DRIVES.
SINGLE := parley/(cmd/internal/tidy|inference/spoken|media/(denoise|fft|vad)(/.*)?)$$
DRIVES := parley/(cmd/parley(/(acceptance|admin|bench|conversation|demo|doctor))?|store/(ledger|numbers|payments|tasks)|media/transcode|pipeline(/amd)?|$\
	inference/(espeak|pocketsphinx|recogniser|speechtest|synthesiser)|api(/($\
	apitest|callcenter|calls|client|dashboard(/(calls|editor|page|telephony))?|denoise|docs|manage|mcp|operator|recording|status|stt|task|topup|tts|wallet|webhook))?)$$

# What of the rest follows them, in their place.
LATER := parley/(api|billing|inference|media|pipeline)(/.*)?$$

# Without symbols and a debugger's information, which nobody reads of tests, their programs are linked in half the time.
TEST := go test -vet=off -ldflags='-s -w'

# Tests of what allocates nothing, and of what keeps time.
COUNTED := Alloc|RealTime

run: build ## build, then start a server with a demonstration account
	bin/parley serve --demo

build: go bin/.installed-build ## bin/parley and bin/parley-speech
	go build -ldflags "-X main.version=$(VERSION)" -o bin/ ./cmd/parley ./cmd/parley-speech

# The binaries have no paths of this checkout in them, so that another one makes the same images.
image: go bin/.installed-image ## the OCI images parley and edge, in bin/image
	go build -trimpath -ldflags "-X main.version=$(VERSION)" -o bin/image/ ./cmd/parley ./cmd/parley-speech
	deploy/image.sh parley $(VERSION) bin/image/parley.tar bin/image/parley bin/image/parley-speech $(wildcard bin/onnx)
	deploy/image.sh edge $(VERSION) bin/image/edge.tar

image-test: go bin/.installed-image ## make both images twice, compare them and run them
	PARLEY_SOAK=1 go test -v -count 1 -timeout 60m -run SoakImage ./cmd/parley/config

test: go bin/.installed-test bin/onnx/libonnxruntime.so.1 bin/typescript/lib/tsc.js ## the whole suite, on this machine alone
	@# Runs beside each other, which take as long as one another, each with what takes longest and mostly waits
	@# first, so that the rest has the processor meanwhile: three programs at a time, for with four, conversations
	@# in real time lose words on two processors. lint vets everything, the tests too.
	{ $(TEST) -p 2 -timeout 25m ./cmd/parley/acceptance ./store/ledger ./store/payments ./api/dashboard ./pipeline ./inference/recogniser $$(go list ./... | grep -E '$(DRIVES)|$(SINGLE)'); unraced=$$?; \
	$(TEST) -race -p 2 -timeout 25m $$(go list ./... | grep -Ev '$(DRIVES)|$(SINGLE)' | grep -E '$(LATER)') && exit $$unraced; } & beside=$$!; \
	$(TEST) -race -p 1 -timeout 25m ./cmd/parley/node ./sip ./cmd/parley/cluster ./sip/simulated ./store/private $$(go list ./... | grep -Ev '$(DRIVES)|$(SINGLE)|$(LATER)'); raced=$$?; \
	wait $$beside && exit $$raced
	@# The race detector allocates and does not keep time, so what counts either runs without it.
	$(TEST) -p 1 -timeout 5m -run '$(COUNTED)' $$(grep -rlE '^func Test.*($(COUNTED))' --include='*_test.go' . | xargs -n 1 dirname | sort -u)

check: test lint ## what CI runs: test, format, vet, staticcheck, go.mod, builds without cgo and for macOS

lint: go
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt these files:" $$files >&2; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	go mod tidy -diff
	CGO_ENABLED=0 go build -o /dev/null ./cmd/parley
	GOOS=darwin CGO_ENABLED=0 go build -o /dev/null ./cmd/parley

soak: go bin/.installed-test bin/.installed-image bin/onnx/libonnxruntime.so.1 bin/typescript/lib/tsc.js ## the long and heavy proofs, up to two hours
	@# What make test runs without the race detector, with it.
	go test -race -count 1 -timeout 25m ./cmd/parley/acceptance -raced
	go test -race -count 1 -p 2 -timeout 25m $$(go list ./... | grep -E '$(DRIVES)' | grep -v acceptance)
	PARLEY_SOAK=1 go test -v -p 1 -count 1 -timeout 60m -run Soak -skip SoakLongCall ./...
	@# A thousand runs of each scenario, late in other ways each time, under the race detector. They are in
	@# simulated time and leave what time they can to twenty minutes on the telephone.
	export PARLEY_SOAK=1; \
	nice go test -race -v -count 1 -timeout 60m -run SoakJitter ./pipeline & jitter=$$!; \
	go test -v -count 1 -timeout 60m -run SoakLongCall ./cmd/parley/acceptance; call=$$?; \
	wait $$jitter && exit $$call

bench: build bin/.installed-test ## measure against the bars: prints a table, writes bench/latest.json
	@mkdir -p bench
	go test -run '^$$' -bench . -benchtime 0.3s ./media/... > bench/go.txt
	go test -run '^$$' -bench Pages -benchtime 3x ./api/dashboard > bench/pages.txt
	PARLEY_TEST_MEASURE=1 go test -count 1 -v -run 'TestMeasure' ./cmd/parley/acceptance > bench/vendors.txt
	@# Bars that are not met are printed; only a measurement that breaks off fails.
	bin/parley bench turn --leg ws --calls 50 --turns 500 --interruptions 100 --json bench/turn-ws.json > /dev/null
	bin/parley bench turn --leg sip --calls 50 --turns 500 --interruptions 100 --json bench/turn-sip.json > /dev/null
	bin/parley bench endpoint --json bench/endpoint.json > /dev/null
	bin/parley bench call --calls 100 --json bench/call.json > /dev/null
	bin/parley bench call --calls 100 --vad --json bench/call-vad.json > /dev/null
	bin/parley bench call --calls 100 --denoise --json bench/call-denoise.json > /dev/null
	bin/parley bench call --codec G722 --calls 100 --json bench/call-g722.json > /dev/null
	bin/parley bench call --leg webrtc --calls 100 --json bench/call-webrtc.json > /dev/null
	bin/parley bench talk --calls 50 --json bench/talk.json > /dev/null
	bin/parley bench tts --json bench/tts.json > /dev/null
	bin/parley bench ledger --json bench/ledger.json > /dev/null
	bin/parley bench cell --json bench/cell.json > /dev/null
	@bin/parley bench report --json bench/latest.json bench/turn-ws.json bench/turn-sip.json bench/endpoint.json bench/call.json bench/call-vad.json bench/call-denoise.json bench/call-g722.json bench/call-webrtc.json bench/talk.json bench/tts.json bench/ledger.json bench/cell.json bench/go.txt bench/pages.txt bench/vendors.txt

# For example: make bench-against BASE=HEAD~3 BENCH="call --calls 100"
BENCH ?= ledger
PERCENT ?= 5
bench-against: build ## compare five runs of a measurement with five of the commit BASE
	@[ -n "$(BASE)" ] || { echo "which commit? BASE=..." >&2; exit 1; }
	@mkdir -p bench && rm -rf bench/base && git worktree prune
	git worktree add --quiet --detach bench/base $(BASE)
	cd bench/base && go build -o ../base-bin/ ./cmd/parley ./cmd/parley-speech
	git worktree remove --force bench/base
	@for i in 1 2 3 4 5; do \
		bench/base-bin/parley bench $(BENCH) --json bench/old-$$i.json > /dev/null && \
		bin/parley bench $(BENCH) --json bench/new-$$i.json > /dev/null || exit 1; done
	@cd bench && ../bin/parley bench compare --percent $(PERCENT) --old old-1.json,old-2.json,old-3.json,old-4.json,old-5.json new-[1-5].json

pictures: go bin/.installed-test ## make the pictures of README.md again, of a running server
	rm -rf bin/pictures
	PARLEY_TEST_SCREENSHOTS=$(CURDIR)/bin/pictures go test -count 1 -run 'TestPictures$$' ./cmd/parley/acceptance
	for f in home playground; do mv bin/pictures/TestPictures-$$f.png deploy/pictures/$$f.png; done

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{printf "%-20s %s\n", $$1, $$2}'

bin/.installed-%: deploy/install.sh
	@mkdir -p bin
	deploy/install.sh $*
	@touch $@

# Its tests need no network once it is there.
bin/onnx/libonnxruntime.so.1: deploy/onnxruntime.sh
	deploy/onnxruntime.sh bin/onnx
	@touch $@

bin/typescript/lib/tsc.js: deploy/typescript.sh
	deploy/typescript.sh bin/typescript
	@touch $@

onnx: bin/onnx/libonnxruntime.so.1 ## bring ONNX Runtime, for neural models of your own

# A newer Go could be fetched by an older one, but not offline and not by 1.20.
go:
	@have=$$(GOTOOLCHAIN=local go version 2>/dev/null | sed -n 's/^go version go1\.\([0-9]*\).*/\1/p'); \
	[ "$${have:-0}" -ge 26 ] || { echo "Go 1.26 or later is needed, $$([ -n "$$have" ] && echo "1.$$have" || echo none) is installed: see https://go.dev/dl/" >&2; exit 1; }
