# Every command of the repository. `make` alone prints them.
#
# All targets loop over the modules that go.work uses, with the workspace itself switched off:
# each module is built and tested as its users get it, from its own go.mod.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

ROOT := $(CURDIR)
OUT := $(ROOT)/.out
MODULES ?= $(shell tools/modules.sh)
EACH := $(ROOT)/tools/each.sh
RETRY := $(ROOT)/tools/retry.sh
INSTALL := $(ROOT)/tools/install-debian.sh
# Tools are built from the versions in tools/go.mod, whatever module they look at.
TOOL := go tool -modfile=$(ROOT)/tools/go.mod

# How many packages are tested at the same time: many wait for servers and clocks most of the time.
PACKAGES ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
# How long each fuzz target runs.
FUZZTIME ?= 30s
# Platforms that the root module must build for, beside the one it is tested on.
PLATFORMS := darwin/arm64 windows/amd64 linux/386 linux/arm64
# Smallest share of statements that tests must reach, package=percent; "." is the root package.
COVER_MIN := algo=98 .=90 store/memstore=90

export MODULES
export GOWORK := off
# A clone owned by somebody else must build too: do not ask git for a version stamp.
export GOFLAGS := $(filter-out -buildvcs=%,$(GOFLAGS)) -buildvcs=false

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Every day

.PHONY: test
test: deps download ## Test all modules with the race detector, in random order
	@CGO_ENABLED=1 $(EACH) go test -race -shuffle=on -p $(PACKAGES) ./...
	@$(MAKE) test-norace

# Tests that only run without the race detector: it allocates, and makes long ones too long.
NORACE := Alloc|Golden|ReplayIs|Recommend|ThresholdsPage|BytesAreTrue|CapHolds|Attack|BoundHolds|BoundOf|Soak|LikeTheModel|Conformance$$

.PHONY: test-norace
test-norace: ## What the race detector makes wrong or too slow: allocations, whole logs
	@for module in $(filter . contrib/rulefile server,$(MODULES)); do \
		(cd "$$module" && go test -shuffle=on -run '$(NORACE)' ./... | grep -v 'no test'); \
	done

.PHONY: test-k8s
test-k8s: ## Check the manifests of deploy/k8s: apart, for Kubernetes' own modules take minutes to compile
	@cd e2e/k8s && $(RETRY) go mod download && go test -race -shuffle=on ./...

.PHONY: check
check: ## Everything that is checked without running the tests
check: download check-work check-fmt check-vet check-static check-layers check-links check-tidy check-cross
	@echo "check: all passed"

.PHONY: fmt
fmt: ## Format all Go files
	@$(TOOL) gofumpt -w .

.PHONY: tidy
tidy: ## Tidy the go.mod of every module
	@for module in $(MODULES); do (cd "$$module" && $(RETRY) go mod tidy); done

.PHONY: run
run: ## Run the server with sample rules on 127.0.0.1:8080, until Ctrl-C
	@mkdir -p "$(OUT)"
	@cd server && go build -o "$(OUT)/sluice" ./cmd/sluice
	@exec "$(OUT)/sluice" serve

.PHONY: rehearsal
rehearsal: ## Run the deployment of deploy/k8s on this machine, with ten times the load that it can take
	@$(INSTALL) redis-server postgresql
	@mkdir -p "$(OUT)"
	@cd e2e && go build -o "$(OUT)/rehearsal" ./rehearsal/cmd/rehearsal
	@exec "$(OUT)/rehearsal" -repository "$(ROOT)"

.PHONY: clean
clean: ## Remove what make left behind
	@rm -rf "$(OUT)"

##@ Preparation

.PHONY: deps
deps: ## Install what the tests need from Debian's packages, when it is missing
	@$(INSTALL) gcc libc6-dev ca-certificates redis-server postgresql curl openssl prometheus=promtool \
		nginx-light=nginx caddy haproxy python3 nodejs=node bsdutils=script \
		python3-redis ruby-redis php-cli=php php-redis node-redis

.PHONY: download
download: ## Download the dependencies of every module
	@for module in $(MODULES); do (cd "$$module" && $(RETRY) go mod download); done

##@ Parts of check

.PHONY: check-work
check-work: ## go.work and the go.mod files fit together
	@GOWORK="$(ROOT)/go.work" go list -m >/dev/null

.PHONY: check-fmt
check-fmt: ## gofumpt has nothing to change
	@files=$$($(TOOL) gofumpt -l .); \
	if [ -n "$$files" ]; then \
		echo "check-fmt: not formatted (run 'make fmt'):"; echo "$$files"; exit 1; \
	fi

.PHONY: check-vet
check-vet: ## go vet in every module
	@$(EACH) go vet ./...

.PHONY: check-static
check-static: ## staticcheck in every module
	@$(EACH) $(TOOL) staticcheck ./...

.PHONY: check-layers
check-layers: ## Imports point down, clocks are read where listed, users get no dependencies
	@go test -count=1 ./internal/lint

.PHONY: check-links
check-links: ## Links and anchors in all Markdown files lead somewhere
	@cd tools && go run ./links "$(ROOT)"

.PHONY: check-tidy
check-tidy: ## go mod tidy has nothing to change in any module
	@for module in $(MODULES); do \
		(cd "$$module" && $(RETRY) go mod tidy -diff) || \
			{ echo "check-tidy: run 'make tidy' (module $$module)"; exit 1; }; \
	done

.PHONY: check-cross
check-cross: ## The root module and its tests compile for other systems and 32 bits
	@for platform in $(PLATFORMS); do \
		echo "== build and vet for $$platform"; \
		export CGO_ENABLED=0 GOOS="$${platform%/*}" GOARCH="$${platform#*/}"; \
		go build ./...; \
		go vet ./...; \
	done

##@ Deeper

.PHONY: bench
bench: bench-local bench-redis bench-service bench-replay bench-rls bench-server bench-resp bench-gateway ## Run all benchmarks

.PHONY: bench-local
bench-local: ## Compare the in-process limiters with their peers
	@cd bench && go run ./cmd/local

.PHONY: bench-redis
bench-redis: ## Compare the limiters over Redis with their peers, on a server of its own
	@$(INSTALL) redis-server
	@cd bench && go run ./cmd/redis

.PHONY: bench-service
bench-service: ## Measure the rule engine, the HTTP middleware beside its peers, and the database guard
	@cd bench && go run ./cmd/service

.PHONY: bench-rls
bench-rls: ## Compare Envoy's rate-limit service with one that always says yes, and with envoyproxy/ratelimit
	@$(INSTALL) redis-server
	@cd bench/rls && go run ./cmd/rls

.PHONY: bench-server
bench-server: ## Measure the server beside a handler that does nothing, and over Redis
	@$(INSTALL) redis-server
	@cd bench && go run ./cmd/server

.PHONY: bench-resp
bench-resp: ## Compare the door for Redis clients with a redis-server, by redis-benchmark
	@$(INSTALL) redis-server
	@cd bench && go run ./cmd/resp

.PHONY: bench-forwardauth
bench-forwardauth: ## Measure what a question to the server adds to a request through nginx
	@$(INSTALL) nginx-light=nginx
	@cd e2e && go test -run '^$$' -bench Cost -benchtime 5s ./nginx

.PHONY: bench-replay
bench-replay: ## Measure sluice replay on a large log beside goaccess, and its memory for a million keys
	@$(INSTALL) goaccess
	@cd bench && go run ./cmd/replay

.PHONY: bench-engine
bench-engine: ## Only the rule engine
	@cd bench && go run ./cmd/service -case engine

.PHONY: bench-gateway
bench-gateway: ## Compare the gateway with nginx, HAProxy, Caddy and a bare reverse proxy, by wrk
	@$(INSTALL) wrk nginx-light=nginx haproxy caddy
	@cd bench && go run ./cmd/gateway

.PHONY: docs-pictures
docs-pictures: ## Draw the pictures of the documentation anew
	@cd tools && go run ./pictures ../docs/img
	@mkdir -p "$(OUT)"
	@cd server && go build -o "$(OUT)/sluice" ./cmd/sluice
	@for pattern in steady edge flash-sale on-off poisson; do \
		"$(OUT)/sluice" compare --pattern $$pattern --limit 20/s --svg docs/img/compare-$$pattern.svg >/dev/null; \
		echo "compare-$$pattern.svg"; \
	done
	@$(INSTALL) chromium
	@"$(OUT)/sluice" replay --key ip --limit 60/m --algorithm sliding_log --html "$(OUT)/report.html" accesslog/testdata/wordpress-2016.log.gz >/dev/null
	@chromium --headless --no-sandbox --hide-scrollbars --window-size=1040,1085 --screenshot=docs/img/replay-report.png "file://$(OUT)/report.html"

.PHONY: cover
cover: ## Print the coverage of every package of the root module, fail below the minimum
	@mkdir -p "$(OUT)"
	@go test -coverpkg=./... -coverprofile="$(OUT)/cover.out" ./... >"$(OUT)/cover.log" || \
		{ cat "$(OUT)/cover.log"; exit 1; }
	@cd tools && go run ./cover $(addprefix -min ,$(COVER_MIN)) "$(OUT)/cover.out"

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@FUZZTIME=$(FUZZTIME) tools/fuzz.sh

.PHONY: mutants
mutants: ## Break the code in listed ways and see that tests notice
	@cd tools && go run ./mutants $(MUTANTS)

.PHONY: test-32bit
test-32bit: ## Test the root module as a 32-bit program (on an amd64 Linux)
	@CGO_ENABLED=0 GOOS=linux GOARCH=386 go test -shuffle=on ./...

.PHONY: soak
soak: deps download ## Everything that takes too long for test: hours
	@echo "soak: started $$(date)"
	@SLUICE_SOAK=1 $(EACH) go test -timeout 12h ./...
	@$(MAKE) test-k8s
	@echo "soak: tests done $$(date), fuzzing"
	@$(MAKE) fuzz FUZZTIME=10m
	@echo "soak: finished $$(date)"
