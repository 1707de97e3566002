# Everything here runs with Go, git and make; see scripts/test for what the
# tests fetch for themselves. "work" is the packages of both modules in go.work;
# PKGS narrows a target: make test PKGS=./internal/id

PKGS     ?= work
FUZZTIME ?= 10s
ROUNDS   ?= 10
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

# Recipes read these from the environment: the shell must not interpret their
# characters.
export VERSION MODULE

.DEFAULT_GOAL := help
.PHONY: help build test race quick citus flake faults lint generate fuzz bench bench-tables screenshots sdk sdk-types release rehome clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the static binaries bin/anodyne and bin/anodyne-bench
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version='"$$VERSION" -o bin/ ./cmd/anodyne ./cmd/anodyne-bench

test: ## run every test, on SQLite and on PostgreSQL (fetched if missing)
	@scripts/test $(PKGS)

race: ## run the tests with the race detector, where it can find something (see scripts/run-tests)
	@scripts/test --race $(PKGS)

quick: ## run the tests that are fast and need no PostgreSQL or browser
	@GOGC=$${GOGC:-400} CGO_ENABLED=0 go test -short -vet=off -ldflags='-s -w' -p=4 -parallel=4 $$(scripts/packages $(PKGS))

citus: ## run tests on a throw-away Citus cluster, if there is one (see scripts/citus)
	@scripts/citus

flake: ## repeat the tests that changed in the last day, or since FLAKE_BASE (for CI)
	@scripts/flake

faults: ## run the fault tests for ROUNDS (10) rounds; SEED=n repeats a run
	@ROUNDS=$(ROUNDS) SEED=$(SEED) scripts/faults

lint: ## check with go vet, gofmt and staticcheck
	go vet $(PKGS)
	go vet -tags=citus ./e2e ./internal/backup ./internal/store ./internal/store/engine
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	go tool staticcheck $(PKGS)

generate: ## write what other files repeat of a declaration: client types, OpenAPI parts, tables in docs/
	go generate ./internal/lists ./internal/api/openapi

fuzz: ## run each fuzz target for FUZZTIME (10s)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz $(PKGS)

bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem $(PKGS)

bench-tables: build ## measure the tables and the plot of docs/performance.md, into bench-tables/ (12 minutes)
	@scripts/bench-tables

screenshots: build ## take every page of the portal, into screenshots/ (needs Chromium)
	@scripts/screenshots

sdk: ## pack the TypeScript client for npm, into dist/ (needs Node 20; after make release, which empties dist/)
	@scripts/sdk pack

sdk-types: ## generate the types of the TypeScript client from the OpenAPI document (needs Node 20)
	@scripts/sdk types

release: ## build the release archives with checksums and SBOMs, into dist/
	@scripts/release

rehome: ## rename both modules: make rehome MODULE=example.com/org/anodyne
	@scripts/rehome "$$MODULE"

clean: ## remove what was built
	rm -rf bin dist screenshots bench-tables
