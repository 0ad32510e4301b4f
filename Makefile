# What people and CI run. `make` alone lists the targets.

ARCH     ?= amd64
VERSION  ?= $(shell tools/version)

# The soak: the first schedule's seed (0: drawn, and printed), for how long it begins new ones, how
# many it plays at a time, and how many times as long as usual everything may take.
SEED     ?= 0
FOR      ?= 2m
LABS     ?= 1
SLOW     ?= 1

MODULE := github.com/ovn-central/ovn-central-operator
BINARY := build/$(ARCH)/ovn-central-operator
CHARM  := build/ovn-central_$(ARCH).charm
TOOLS  := build/tools

# The package of ovn-gateways: Debian's name of the architecture, and the day of the sources in all that has one.
DEB         := build/ovn-gateways_$(ARCH).deb
DEB_ARCH    := $(subst ppc64le,ppc64el,$(ARCH))
DEB_DATE    := $(shell git log -1 --format=%cs 2>/dev/null || date +%F)
DEB_SHARE   := build/$(ARCH)/deb

# Where the documents are to which texts link, with a slash at the end. Empty: as internal/version has it.
DOCS     ?=

# What keeps directories, times and build IDs out of the binary.
STATIC := CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH)
REPRODUCIBLE := -trimpath -ldflags='-s -w -buildid= -X $(MODULE)/internal/version.Version=$(VERSION)$(if $(DOCS), -X $(MODULE)/internal/version.Docs=$(DOCS))'

# One kind of build for everything but the race detector: each further kind is compiled from the
# standard library on. A checkout of another user has no version control to ask. `make lint` does
# what go vet does, and more.
export GOFLAGS := -buildvcs=false -trimpath -vet=off $(GOFLAGS)
export CGO_ENABLED ?= 0

# CI runs a failed test once more at the end of its suite: if servers compete for a processor, one
# of them sometimes gets it too late. The report names what passed then. A data race, a panic and
# more than ten failures are not run again.
RERUN := $(if $(CI),--rerun-fails=1 --rerun-fails-max-failures=10 --rerun-fails-run-root-test \
	--rerun-fails-abort-on-data-race --rerun-fails-report=$$(mktemp build/reruns-XXXXXX))
# $(call gotest,PACKAGES,FLAGS)
gotest = $(TOOLS)/gotestsum --format pkgname-and-test-fails --hide-summary=skipped $(RERUN) --packages='$(1)' -- -timeout 60m $(2)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build charm deb release install-deps test test-integration test-system story dropin soak bench lint fix generate docs demo vuln clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

build: ## the binary, for ARCH=amd64, arm64, ppc64le or s390x
	$(STATIC) go build $(REPRODUCIBLE) -o $(BINARY) ./cmd/ovn-central-operator

charm: build ## the charm file that juju deploys, for ARCH
	go run ./tools/pack -dispatch $(BINARY) -arch $(ARCH) -version '$(VERSION)' -out $(CHARM)

deb: build $(TOOLS)/nfpm ## a package with the command ovn-gateways, for any OVN, for ARCH
	rm -rf $(DEB_SHARE)
	go run ./tools/manpages -date $(DEB_DATE) -out $(DEB_SHARE)
	BINARY=$(BINARY) DEB_SHARE=$(DEB_SHARE) DEB_ARCH=$(DEB_ARCH) DEB_VERSION='$(VERSION)' SOURCE_DATE_EPOCH=$$(date -u -d $(DEB_DATE) +%s) $(TOOLS)/nfpm package --config tools/deb/nfpm.yaml --packager deb --target $(DEB)

# .goreleaser.yaml has charm and deb made once for each architecture.
release: $(TOOLS)/goreleaser $(TOOLS)/cyclonedx-gomod $(TOOLS)/nfpm ## binary, charm and deb for all architectures, checksums, lists of components; publishes nothing
	VERSION='$(VERSION)' DOCS='$(DOCS)' $(TOOLS)/goreleaser release --snapshot --clean

install-deps: ## install what tests, demo and documents need from the system's packages; starts no service
	tests/install-deps ovn machines docs browser

# A test belongs to a tier by its directory.

# Tests on servers mostly wait, and unit tests compute: they run side by side, and the servers have
# precedence. What both need is compiled before, so that neither compiles it again.
test: $(TOOLS)/gotestsum ## unit tests, the charm's files, the documents, a short core on real servers; needs root; 5 minutes
	tests/install-deps
	go build ./...
	nice $(call gotest,./cmd/... ./internal/... ./tools/...,-tags programs -p 3 -parallel 6) & unit=$$!; \
	$(call gotest,./tests/quick/...,-count=1 -parallel 6); core=$$?; wait $$unit && exit $$core

# The race detector runs where there is concurrency, and only there: what it compiles is compiled
# from the standard library on. The charm is a process of its own, which the race detector of a test
# does not see. How many tests run at a time is bounded by what a busy machine does: if a lab's
# servers don't answer within 5 seconds, the charm reports that they hang. Nothing runs beside
# tests/dataplane, which measures for how long traffic stops; its tests mostly wait.
RACE := ./internal/agent/... ./internal/lease/... ./internal/membership/... ./internal/ovsdb/...
test-integration: $(TOOLS)/gotestsum $(TOOLS)/nfpm ## everything on real servers; site and package; what is concurrent with the race detector; needs root; 25 minutes
	tests/install-deps ovn docs browser
	CGO_ENABLED=1 $(call gotest,$(RACE) ./tests/agent/... ./tests/harness/...,-race -tags programs -count=1 -p 2 -parallel 5)
	$(call gotest,./tests/integration/...,-count=1 -p 2 -parallel 4)
	$(call gotest,./tests/dataplane/...,-count=1 -parallel 6)

test-system: $(TOOLS)/gotestsum charm release ## machines, Juju's own code, disasters, large databases, exploration; needs root; hours, by hand
	tests/install-deps ovn machines neutron
	cd build/release && sha256sum --check --quiet SHA256SUMS
	tests/system/go-alone
	tests/system/fuzz 30000x
	EXPLORE=10 $(call gotest,./internal/lease ./internal/plan ./internal/gateway/...,-count=1)
	BACKUP_MIB=500 $(call gotest,./internal/backup,-tags programs -count=1)
	$(call gotest,./tests/system/...,-count=1 -p 1 -timeout 24h)
	GATEWAYS=10000 go test -run '^$$' -bench . -benchtime 1x -timeout 3h ./tests/system/bench
	go test -run '^$$' -bench . -timeout 1h ./tests/system/neutron -neutron.large
	SIZE=80 TIMER=84 go test -tags programs -run '^$$' -bench . -benchtime 1x -timeout 1h ./internal/ovsctl
	cd tests/system/conformance && go test -count=1 -timeout 30m ./...
	tools/pack/reproducible $(ARCH) '$(VERSION)' $(CHARM)

story: $(TOOLS)/gotestsum ## the life of an application on machines with systemd; needs root; 15 minutes
	tests/install-deps ovn machines
	$(call gotest,./tests/system/machines/story,-count=1)

dropin: ## zaza's and juju-verify's tests of the Python charm, unchanged; SOURCES=DIR has their checkouts; needs root; 15 minutes
	tests/install-deps ovn dropin
	go run ./tests/dropin -sources '$(SOURCES)'

soak: install-deps ## random operations and faults on real servers, for FOR=2m from seed SEED on; needs root
	go test -v -count=1 -timeout 24h ./tests/system/soak/random -args -seed=$(SEED) -for=$(FOR) -labs=$(LABS) -slow=$(SLOW)

bench: ## benchmarks, beside the bare commands and Neutron's scheduler; no result of theirs fails a build
	tests/install-deps ovn neutron
	go test -tags programs -run '^$$' -bench . -benchmem -p 1 -timeout 30m ./...

# deadcode can't see what fmt, slog and json call by reflection. It checks types from the sources: those of
# the C library differ most on s390x.
lint: $(TOOLS)/golangci-lint $(TOOLS)/deadcode $(TOOLS)/vale ## .golangci.yml; no unreachable code; plain English; generated pages are current
	$(TOOLS)/golangci-lint run ./...
	GOARCH=s390x $(TOOLS)/deadcode ./cmd/... >build/deadcode.txt
	! grep -v -E '\.(Format|LogValue|MarshalText)$$' build/deadcode.txt
	$(TOOLS)/deadcode -test -tags programs ./... >build/deadcode-tests.txt
	! grep . build/deadcode-tests.txt
	$(TOOLS)/vale --output line *.md docs internal cmd tools tests
	go run ./tools/docgen -check

fix: $(TOOLS)/golangci-lint ## what the linters can repair by themselves, and the generated pages
	$(TOOLS)/golangci-lint run --fix ./...
	go run ./tools/docgen

generate: ## docs/reference, from the charm's files
	go run ./tools/docgen

# The player of the demo's recording is npm's, and is part of no release; the site does without it if npm is missing.
PLAYER := asciinema-player@3.18.0
docs: ## the documents as a site, in build/site; fails if a link leads nowhere
	tests/install-deps docs
	rm -rf build/site build/doctrees
	tools/player $(PLAYER) build/player
	sphinx-build -W --keep-going -n -q -j auto -b html -c docs/site -d build/doctrees -D html_title="ovn-central operator $(VERSION)" . build/site
	@echo "The site is in build/site: open file://$(CURDIR)/build/site/index.html, or run: python3 -m http.server -d build/site"

demo: build ## see it work on real clusters; ends and cleans up by itself; RECORD=1 records it again
	tests/install-deps
	go run ./tests/harness/demo $(if $(RECORD),-record,-compare) docs/tutorial/demo.cast $(BINARY)

vuln: $(TOOLS)/govulncheck ## known vulnerabilities; needs the network
	$(TOOLS)/govulncheck ./...

clean: ## remove what was built
	rm -rf build

# Modules of their own: what these need is in no list of the product's, nor of one another's.
APART := $(addprefix $(TOOLS)/,cyclonedx-gomod goreleaser nfpm vale)
# Its parsers of comments are in C, and compile with warnings.
$(TOOLS)/vale: export CGO_ENABLED = 1
$(TOOLS)/vale: export CGO_CFLAGS = -w
$(APART): $(TOOLS)/%: internal/tools/%/go.mod internal/tools/%/go.sum
	go build -C internal/tools/$* -o $(CURDIR)/$@ tool

$(TOOLS)/%: internal/tools/go.mod internal/tools/go.sum
	go build -C internal/tools -o $(CURDIR)/$@ $$(go -C internal/tools list -f '{{.ImportPath}}' tool | grep '/$*$$')
