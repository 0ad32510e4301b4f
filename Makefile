# What people and CI run. `make` alone lists the targets.

ARCH     ?= amd64
VERSION  ?= $(shell git describe --always --dirty 2>/dev/null || echo unknown)
# A count of runs: with a time, Go before 1.27 can fail as it ends (go.dev/issue/75804).
FUZZTIME ?= 5000x

# The first of the soak's schedules (0: drawn, and printed), and for how long it begins new ones.
SEED     ?= 0
FOR      ?= 2m
# How many of them are played at the same time, each in a lab of its own.
LABS     ?= 1
# How many times as long as usual everything may take there, on a machine that has other things to do.
SLOW     ?= 1

# How many schedules `make agent-soak` and `make disasters` play.
COUNT    ?= 100
# For how long `make agent-soak` begins further ones; memory and descriptors are judged over all of it.
AGENTS_FOR ?= 0s

# What the machines of `make e2e` run: bookworm or sid; trixie: bookworm, upgraded to trixie's OVN.
SUITE    ?= bookworm
# Which of its tests are run.
RUN      ?= .

# How many times as much as in `go test` the tests explore that try things at random, or all of them.
EXPLORE  ?= 10

# Which part of their tests `make functional`, `make recovery` and `make deployment` run: 2/6 is
# every sixth from the second on.
SHARD    ?= 1/1

# What `make juju` works with.
CA       ?= vault
CONFIG   ?= source=distro

MODULE := github.com/ovn-central/ovn-central-operator
BINARY := build/$(ARCH)/ovn-central-operator
CHARM  := build/ovn-central_$(ARCH).charm
LINTER := build/tools/golangci-lint
VULN   := build/tools/govulncheck
DEAD   := build/tools/deadcode
NFPM   := build/tools/nfpm

# The package of ovn-gateways: Debian's name of the architecture, a version that begins with
# a digit, and the day of the sources in all that has one.
DEB         := build/ovn-gateways_$(ARCH).deb
DEB_ARCH    := $(subst ppc64le,ppc64el,$(ARCH))
DEB_VERSION  = 0~$(subst -,+,$(VERSION))
DEB_DATE    := $(shell git log -1 --format=%cs 2>/dev/null || date +%F)

# What keeps directories, times and build IDs out of the binary.
STATIC := CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH)
# The race detector is in C. How many tests run at a time is bounded by what a busy machine does:
# where a lab's servers don't answer within 5 seconds, the charm says that they hang. Agents
# wait most of the time.
RACE   := CGO_ENABLED=1 tests/go-test -race -count=1 -parallel 4
REPRODUCIBLE := -trimpath -ldflags='-s -w -buildid= -X $(MODULE)/internal/version.Version=$(VERSION)'

# One kind of build for all that has no race detector, the charm's own: each further kind is
# compiled from the standard library on. A checkout that belongs to another user has no version
# control to ask. What go vet looks for is looked for by `make lint`, and more.
export GOFLAGS := -buildvcs=false -trimpath -vet=off $(GOFLAGS)
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps build charm deb check-deb docs browser test unit race agents files functional recovery lab large explore compatibility agent-life life deployment gateways dataplane fuzz soak disasters agent-soak conformance e2e juju bench conversion demo demo-recording lint vuln generate check-generated reproducible clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: $(if $(RERUN),build/tools/gotestsum) ## install what is missing of OVN and Open vSwitch; starts no service
	tests/install-deps

build: ## the binary, for ARCH=amd64, arm64, ppc64le or s390x
	$(STATIC) go build $(REPRODUCIBLE) -o $(BINARY) ./cmd/ovn-central-operator

charm: build ## the charm file that juju deploys, for ARCH
	go run ./tools/pack -dispatch $(BINARY) -arch $(ARCH) -version '$(VERSION)' -out $(CHARM)

deb: build $(NFPM) ## a package with the command ovn-gateways, for any OVN, for ARCH
	rm -rf build/deb
	go run ./tools/manpages -date $(DEB_DATE) -out build/deb
	BINARY=$(BINARY) DEB_ARCH=$(DEB_ARCH) DEB_VERSION='$(DEB_VERSION)' SOURCE_DATE_EPOCH=$$(date -u -d $(DEB_DATE) +%s) $(NFPM) package --config tools/deb/nfpm.yaml --packager deb --target $(DEB)

# Packages that `make unit` runs and that have nothing that could race: the pure ones, and the
# one that reads sources.
PURE     := ovndb|raft|lease|plan|recovery|gateway/schedule|gateway/revision|gateway/drift|gateway/picture|mincost|node/maintenance|unitname|archtest
# Of tests/functional: copies, lost quorums, data that differ and disks that fail. The rest is about membership.
RECOVERY := Backup|Recover|Restore|Rejoins|OldMajority|LostQuorum|NewestCopy|FullDisk|WriteFailed|FsyncFailed|CouldNotWrite
# Of tests/deployment: those that docs/reference/compatibility.md names.
COMPATIBILITY := FunctionalTestsOfThePythonCharm|ExpiredCertificatesAreSaid|ToldToLeaveByHand|UnitThatLeadsIsPaused|RestartsThatPackagesAskFor|PackagesRestartNothing|RestartsAreHeldBackAndShown|RestartsThatThePythonCharmHeldBack|NewerPackagesComeToOneUnit|ThreeEmptyMachines|ClientsConnectWithTheRelationsData
# The agent on units of the charm: what is asked of it each time.
AGENT_LIFE := ^TestAgent(LivesWithItsUnit|RunsTheProgramOfTheCharmThatIsThere)$$
# The life of an application takes as long as the rest of its part of the tests.
LIFE := ^TestLifeOfAnApplication$$
# What a target of its own runs, all of it.
APART    := /tests/lab|/tests/juju|/tests/deployment|/tests/gateways|/tests/dataplane|/tests/soak|/tests/bench|/tests/deb

test: deps unit race agents files ## unit tests, agents and a fifth of membership on real servers, fuzz targets; installs what is missing; 15 minutes
	$(MAKE) functional SHARD=1/5
	$(MAKE) fuzz

unit: ## unit tests as go test ./internal/... runs them with Go alone: no root, none of OVN's programs; a minute
	tests/go-alone

race: deps ## unit tests of what is not pure, and packages of internal/ on the real programs that they drive, with the race detector
	$(RACE) -timeout 30m -tags programs -- $$(go list ./cmd/... ./internal/... ./tools/... | grep -v -E '/internal/($(PURE))$$')

agents: deps ## three agents on real servers, with the race detector
	$(RACE) -parallel 6 -timeout 60m -- ./tests/agent

files: ## the charm's files, documents, recordings, and what tests share
	tests/go-test -count=1 -parallel 6 -timeout 60m -- $$(go list ./tests/... | grep -v -E '$(APART)|/tests/(agent|functional)')
	tests/go-test -count=1 -timeout 10m -run '^Test(EachStatus|EachRefusal|Messages|Commands)' -- ./tests/soak # what the how-to says of each status

# The charm is a process of its own here, which the race detector of a test would not see.
functional: deps ## leave, kick, restart, lock and status on real servers, or a part of it, SHARD=2/5
	pattern=$$(tests/shard $(SHARD) ./tests/functional ^Test '$(RECOVERY)') && tests/go-test -count=1 -parallel 3 -timeout 60m -run "$$pattern" -- ./tests/functional

recovery: deps ## backup, restore, lost quorums and failing disks on real servers, or a part of it, SHARD=2/3
	pattern=$$(tests/shard $(SHARD) ./tests/functional '$(RECOVERY)') && tests/go-test -count=1 -parallel 3 -timeout 60m -run "$$pattern" -- ./tests/functional

lab: deps ## the lab's own tests, with the race detector
	$(RACE) -p 1 -timeout 60m -- ./tests/lab/...

large: deps ## waits on real servers with a database of 160 MiB; backups of 500 MiB; a recovery with 300 MiB; 10,000 gateways through ovn-northd; minutes, by hand
	go test -tags 'programs large' -v -count=1 -timeout 30m -run TestWaitsHoldForADatabaseOf160MiB ./internal/membership
	BACKUP_MIB=500 go test -tags programs -v -count=1 -timeout 30m -run TestBackupTakesNoMoreMemory ./internal/backup
	go test -tags large -v -count=1 -timeout 60m -run TestRecoverOfADatabaseOf300MiB ./tests/functional
	GATEWAYS=10000 go test -v -run '^$$' -bench '^Benchmark(Write|Drain)ThroughNorthd$$' -benchtime 1x -timeout 120m ./tests/bench

explore: ## EXPLORE=10 times what go test explores of orders, faults and schedules
	EXPLORE=$(EXPLORE) go test -count=1 -timeout 30m ./internal/lease ./internal/plan ./internal/gateway/...

compatibility: deps ## what other programs read of the charm, in docs/reference/compatibility.md, played on real servers; 5 minutes
	tests/go-test -count=1 -parallel 3 -timeout 60m -run '$(COMPATIBILITY)' -- ./tests/deployment

agent-life: deps ## the agent as the charm installs, configures, stops and removes it, on real servers; 2 minutes
	tests/go-test -count=1 -parallel 3 -timeout 60m -run '$(AGENT_LIFE)' -- ./tests/deployment

life: deps ## the life of an application, from its first unit to its removal, as tests/cluster tells it: on the lab, and by a juju client of it; 8 minutes
	tests/go-test -count=1 -timeout 60m -run '$(LIFE)' -- ./tests/deployment
	tests/go-test -count=1 -timeout 60m -- ./tests/juju/...

deployment: deps ## the rest of the charm's life on empty and on adopted machines, or a part of it, SHARD=2/6; 20 minutes
	pattern=$$(tests/shard $(SHARD) ./tests/deployment ^Test '$(COMPATIBILITY)|$(AGENT_LIFE)|$(LIFE)') && tests/go-test -count=1 -parallel 3 -timeout 60m -run "$$pattern" -- ./tests/deployment

gateways: deps ## gateways on real databases, and 10,000 of them; 5 minutes
	$(RACE) -timeout 30m -- ./tests/gateways
	tests/go-test -count=1 -timeout 15m -- ./tests/bench

dataplane: deps ## gateways on real chassis in network namespaces, which carry traffic, or those that RUN= matches; needs root; 5 minutes
	$(RACE) -timeout 15m -run '$(RUN)' -- ./tests/dataplane

fuzz: ## every fuzz target, FUZZTIME=5000x runs each
	tests/fuzz $(FUZZTIME)

soak: deps ## random operations and faults on real servers, for FOR=2m from seed SEED on; needs root
	go test -v -count=1 -timeout 24h ./tests/soak -args -seed=$(SEED) -for=$(FOR) -labs=$(LABS) -slow=$(SLOW)

disasters: deps ## COUNT=100 random schedules of quorums that are lost for good, and recovered, from seed SEED on; needs root
	go test -v -count=1 -timeout 24h -run TestRandomFaultsBreakNoInvariant ./tests/soak -args -disasters -seed=$(SEED) -count=$(COUNT) -labs=$(LABS)

agent-soak: deps ## COUNT=100 random schedules of faults and events on three agents with real servers, from seed SEED on, and more for AGENTS_FOR=30m; needs root
	go test -v -count=1 -timeout 24h -run TestRandomSchedulesOnRealServersAreActedOnOnce ./tests/agent -args -seed=$(SEED) -count=$(COUNT) -for=$(AGENTS_FOR)

conformance: build ## the scenarios of the lab through Juju's own code (AGPL, see its README)
	cd tests/conformance && ../go-test -count=1 -timeout 30m -- ./...

e2e: ## the story on machines with systemd; SUITE=bookworm or sid; trixie: an upgrade to it; needs root
	tests/machines/install-deps
ifeq ($(SUITE),trixie)
	E2E_SUITE=bookworm E2E_NEWER=$(SUITE) go test -v -count=1 -timeout 60m -run 'TestGroundRunsPackagesOfTwoReleases|TestUpgradesToANewerRelease' ./tests/machines/story
else
	E2E_SUITE=$(SUITE) tests/go-test -v -count=1 -timeout 90m -run '$(RUN)' -- ./tests/machines/...
endif

juju: charm ## the story on your own Juju: MODEL=, CA=vault, MACHINES=, CONFIG=; see tests/juju/README.md
	go run ./tests/juju/cmd/juju-story -model '$(MODEL)' -charm ./$(CHARM) -ca '$(CA)' -machines '$(MACHINES)' -config '$(CONFIG)' $(ARGS)

bench: deps ## benchmarks; no result of theirs fails a build
	tests/neutron/install-deps
	go test -run '^$$' -bench . -benchmem -p 1 -timeout 30m ./...

conversion: deps ## how long clients wait while a database of SIZE= MiB is converted at an election timer of TIMER= seconds
	SIZE='$(SIZE)' TIMER='$(TIMER)' go test -run '^$$' -bench '^BenchmarkConversion$$' -benchtime 1x -timeout 30m ./internal/ovn

demo: deps build ## see it work on real clusters; ends and cleans up by itself
	go run ./tests/demo -compare docs/tutorial/demo.cast $(BINARY)

demo-recording: deps build ## record the demo, for asciinema play docs/tutorial/demo.cast
	go run ./tests/demo -record docs/tutorial/demo.cast $(BINARY)
	go run ./tools/docgen

# What fmt and slog call by reflection, deadcode can't see.
lint: $(LINTER) $(DEAD) ## the linters of .golangci.yml, at the version of internal/tools/go.mod; no code that the program can't reach
	$(LINTER) run ./...
	$(DEAD) ./cmd/... >build/deadcode.txt
	! grep -v -E '\.(Format|LogValue)$$' build/deadcode.txt
	$(DEAD) -test -tags programs,large ./... >build/deadcode-tests.txt
	! grep . build/deadcode-tests.txt

vuln: $(VULN) ## known vulnerabilities; asks vuln.go.dev, which CI can't reach
	$(VULN) ./...

# A module of its own: what it needs is in no list of the product's.
$(NFPM): internal/tools/nfpm/go.mod internal/tools/nfpm/go.sum
	go build -C internal/tools/nfpm -o $(CURDIR)/$@ github.com/goreleaser/nfpm/v2/cmd/nfpm

build/tools/%: internal/tools/go.mod internal/tools/go.sum
	go build -C internal/tools -o $(CURDIR)/$@ $$(go -C internal/tools list -f '{{.ImportPath}}' tool | grep '/$*$$')

generate: ## docs/reference, from the charm's files
	go run ./tools/docgen

check-deb: deps ## the package of make deb: what is in it, installed, used and purged by the real APT
	go test -count=1 -timeout 30m ./tests/deb

docs: ## the documents as a site, build/site/docs/README.html; fails where a link leads nowhere; installs what is missing
	docs/site/install-deps
	rm -rf build/site
	sphinx-build -W --keep-going -n -q -j auto -b html -c docs/site -d build/doctrees . build/site

browser: ## the pictures in a real browser: every text in its place; installs what is missing
	tests/browser/install-deps
	go test -tags browser -count=1 ./tests/browser

check-generated: ## fail if docs/reference is not what generate writes
	go run ./tools/docgen -check

reproducible: charm ## build the charm again, elsewhere and with nothing cached; compare
	tools/pack/reproducible $(ARCH) '$(VERSION)' $(CHARM)

clean: ## remove what was built
	rm -rf build
