# The commands of the house. `make` alone lists them; README.md needs only `demo` and `test`.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

CARGO ?= cargo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
# How many seeds the simulator tries, in `make test` and in `make sim`.
TEST_SEEDS ?= 20
SEEDS ?= 2000
# Tests are always built as a workspace and chosen by name: of a crate built alone the dependencies have other features, and are built again.

.PHONY: help
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: ## watch agents reach an objective in sandboxes, without key or network
	@scripts/setup run
	@# The development profile: it builds in a fraction of the time, and `make test` builds on the same artefacts.
	$(CARGO) build --bin windlass
	@$(CARGO) run --quiet --bin windlass -- demo

.PHONY: test
test: ## run every test that needs no daemon, browser or server of others; CI runs those too (test-docker, test-mcp, test-api, test-redis, test-browser, test-console, test-agents, test-postgres)
	@scripts/setup test
	WINDLASS_SEEDS=$(TEST_SEEDS) $(CARGO) nextest run --workspace
	$(CARGO) test --workspace --doc --quiet
	@$(MAKE) --no-print-directory histories
	@$(MAKE) --no-print-directory test-real

# Built before the server starts, so that it does not wait; named here, because an ordinary run leaves these tests out.
REAL_MODEL = $(CARGO) nextest run --workspace --ignore-default-filter -E 'test(/(^|::)real_model(::|$$)/)'
.PHONY: test-real
test-real: ## run the tests that need a real model server, which is installed on first use (130 MB to download, 220 MB on disk)
	@scripts/setup real
	$(REAL_MODEL) --no-run
	@# The server has one place.
	scripts/real-model $(REAL_MODEL) --test-threads 1

TURNS ?= 200
.PHONY: soak-real
soak-real: ## let that model work for many turns (TURNS=200), and see that it breaks nothing
	@scripts/setup real
	$(REAL_MODEL) --no-run
	WINDLASS_REAL_TURNS=$(TURNS) scripts/real-model $(REAL_MODEL) a_bad_model_breaks_nothing --no-capture

.PHONY: image
image: ## build execution-agent:latest, the image of Docker sandboxes (170 MB to download the first time)
	@scripts/setup docker
	@scripts/image

.PHONY: service-image
service-image: build ## build windlass:latest, the image of the service (packaging/Dockerfile; 60 MB to download the first time)
	@scripts/setup docker
	@scripts/service-image

.PHONY: packaging
packaging: ## check the files in packaging/ with the programs that read them, where those are installed
	@scripts/check-packaging

# The suite of every sandbox, over containers, and what only they have.
DOCKER_TESTS = $(CARGO) nextest run --workspace --ignore-default-filter \
    -E '(package(windlass-sandbox) and test(/^(confinement|docker|egress|guarded|home|hostile|lifecycle|limits|listen|owner|talk|terminal)::/)) or test(/^docker::/)'
.PHONY: test-docker
test-docker: ## run the sandbox suite over containers, against a Docker daemon of its own (needs root)
	@scripts/setup docker
	$(DOCKER_TESTS) --no-run
	scripts/docker-daemon $(DOCKER_TESTS)

.PHONY: test-podman
test-podman: ## run what only containers have against a Podman service of its own (needs root, podman and docker's client)
	$(DOCKER_TESTS) --no-run
	WINDLASS_DAEMON=podman scripts/docker-daemon $(CARGO) nextest run --workspace --ignore-default-filter -E 'test(/^docker::/)'

# A server and clients that others wrote, as their packages have them today; the server brings the client for JavaScript.
EVERYTHING = $(abspath $(TARGET_DIR))/mcp-everything
MCP_PYTHON = $(abspath $(TARGET_DIR))/mcp-python/venv
.PHONY: test-mcp
test-mcp: ## run the tests against an MCP server and clients of others (npm, PyPI), installed on first use (needs Node and Python)
	@scripts/setup real
	@scripts/setup node
	@[ -d $(EVERYTHING)/node_modules ] || npm install --silent --no-audit --no-fund --prefix $(EVERYTHING) @modelcontextprotocol/server-everything
	@$(MCP_PYTHON)/bin/python -c 'import mcp' 2>/dev/null || { python3 -m venv --clear $(MCP_PYTHON) && $(MCP_PYTHON)/bin/pip install --quiet --disable-pip-version-check mcp; }
	WINDLASS_MCP_EVERYTHING=$(EVERYTHING) WINDLASS_MCP_PYTHON=$(MCP_PYTHON)/bin/python $(CARGO) nextest run --workspace --ignore-default-filter -E 'test(/(^|::)real_mcp(::|$$)/)'

REDIS_PYTHON = $(abspath $(TARGET_DIR))/redis-python/venv
.PHONY: test-redis
test-redis: ## run the tests with a real Redis and a client of others for it (PyPI), installed on first use (Debian's package; needs Python)
	@scripts/setup redis
	@$(REDIS_PYTHON)/bin/python -c 'import redis' 2>/dev/null || { python3 -m venv --clear $(REDIS_PYTHON) && $(REDIS_PYTHON)/bin/pip install --quiet --disable-pip-version-check redis; }
	WINDLASS_REDIS_PYTHON=$(REDIS_PYTHON)/bin/python $(CARGO) nextest run --workspace --ignore-default-filter -E 'test(/(^|::)redis::/)'

.PHONY: agents
agents: ## install the five coding agents that Windlass drives into target/agents (from npm, 1.7 GB on disk)
	@scripts/setup node
	@scripts/agents

.PHONY: test-agents
test-agents: agents ## run the tests that drive the real coding agents, which are installed on first use
	WINDLASS_AGENTS=$(abspath $(TARGET_DIR))/agents $(CARGO) nextest run --workspace --ignore-default-filter -E 'test(/(^|::)real_agents(::|$$)/)'

.PHONY: test-browser
test-browser: ## run the tests with a real Chromium, which is installed on first use (Debian's package, 80 MB to download)
	@scripts/setup browser
	$(CARGO) nextest run --workspace --ignore-default-filter -E 'test(/(^|::)real_browser(::|$$)/)'

EXAMPLES ?= 25
.PHONY: test-api
test-api: ## try the HTTP service with whatever Schemathesis makes up (PyPI), which is installed on first use (EXAMPLES=25 API_SEEDS="1 2 3")
	@scripts/setup real
	$(CARGO) build --quiet --bin windlass
	EXAMPLES=$(EXAMPLES) scripts/test-api $(TARGET_DIR)/debug/windlass

.PHONY: test-postgres
test-postgres: ## run the tests that need PostgreSQL, which is installed on first use (Debian's package) and started by each of them
	@scripts/setup postgres
	$(CARGO) nextest run --workspace --ignore-default-filter -E 'kind(test) and test(/(^|::)postgres(::|$$)/)'

# Not called SECONDS inside: shells count in a variable of that name.
SECONDS ?= 3600
.PHONY: soak-postgres
soak-postgres: ## kill, end and stop workers on PostgreSQL for an hour (SECONDS=3600), and see that every task ends once and right
	@scripts/setup postgres
	WINDLASS_STORM_SECONDS=$(SECONDS) $(CARGO) nextest run --workspace --ignore-default-filter --no-capture -E 'kind(test) and test(/(^|::)postgres::crowd::/)'

.PHONY: lint
lint: ## check formatting, clippy, the repository's own rules, and licences where cargo-deny is installed
	@scripts/setup run
	@$(CARGO) metadata --locked --format-version 1 >/dev/null || { echo 'lint: Cargo.lock is behind Cargo.toml; build once and commit it' >&2; exit 1; }
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) run --quiet -p xtask -- tidy
	@if $(CARGO) deny --version >/dev/null 2>&1; then \
	    $(CARGO) deny --log-level error check bans licenses sources; \
	else \
	    echo 'lint: skipped licences and bans; to check them: cargo install --locked cargo-deny'; \
	fi

.PHONY: sim
sim: ## run the simulator over many seeds (SEEDS=2000)
	@scripts/setup test
	WINDLASS_SEEDS=$(SEEDS) $(CARGO) nextest run --workspace -E 'package(windlass-simulator)'

# One in twenty is of whole engines, which cost ten times as much.
HISTORIES ?= 20000
SIMULATED = $(CARGO) nextest run --workspace --no-capture -E
.PHONY: histories
histories: ## play many histories of queues and engines on every core and print the totals (HISTORIES=20000)
	@scripts/setup test
	WINDLASS_SEEDS=$$(($(HISTORIES) / 20)) $(SIMULATED) 'package(windlass-simulator) and test(/^engines::/)'
	WINDLASS_SEEDS=$$((($(HISTORIES) * 19 + 179) / 180)) $(SIMULATED) 'package(windlass-simulator) and test(/^queues::/)'
	@$(MAKE) --no-print-directory sim-graphs N=$(HISTORIES)

N ?= 20000
.PHONY: sim-graphs
sim-graphs: ## play many work graphs against workers that do whatever is worst (N=20000)
	@scripts/setup test
	WINDLASS_GRAPHS=$(N) $(CARGO) nextest run --workspace --no-capture -E 'test(every_graph_ends_within_its_bound)'

MODELS ?= 1000
.PHONY: bad-models
bad-models: ## set many looping and lying models on budgets (MODELS=1000)
	@scripts/setup test
	WINDLASS_MODELS=$(MODELS) $(CARGO) nextest run --workspace --no-capture -E 'test(no_model_spends_more)'

# The coding agents are measured as well where `make agents` has put them; WINDLASS_AGENTS names another folder.
ifneq ($(wildcard $(TARGET_DIR)/agents/installed),)
bench bench-write bench-peers: export WINDLASS_AGENTS ?= $(abspath $(TARGET_DIR))/agents
endif

# BENCH holds arguments for the benchmark, as in `make bench BENCH="--only steps --real-time"`.
.PHONY: bench
bench: bench-build ## measure Windlass on this machine and print the table
	@$(TARGET_DIR)/release/windlass-bench $(BENCH)

.PHONY: bench-docker
bench-docker: bench-build ## the same for sandboxes alone, with containers of a Docker daemon of its own (needs root)
	@scripts/setup docker
	@scripts/docker-daemon sh -c '$(TARGET_DIR)/release/windlass-bench --only sandboxes --docker "$$WINDLASS_TEST_DOCKER"'

.PHONY: bench-write
bench-write: bench-build ## all of it, with containers, and keep the table in docs/benchmarks.md (needs root)
	@scripts/setup docker
	@WINDLASS_DOCKER=must scripts/docker-daemon sh -c '$(TARGET_DIR)/release/windlass-bench --write --docker "$$WINDLASS_TEST_DOCKER" $(BENCH)'

# Both at once: built apart, what they share would be compiled twice. The console is measured where it can be built and a Chromium is there.
.PHONY: bench-build
bench-build:
	@scripts/setup run
	@if scripts/console --can; then scripts/console; fi
	$(CARGO) build --quiet --release -p windlass -p windlass-bench --bins

.PHONY: bench-peers
bench-peers: ## measure the peers in the same run, for ratios (installs them; needs the network)
	@scripts/setup run
	@scripts/bench-peers $(BENCH)

# With a Node that is new enough; without one, what was built before is taken, or nothing.
.PHONY: console
console: ## build the console, which the next `cargo build` puts into the binary (needs Node 20.19 and npm)
	@scripts/setup node
	@scripts/console

.PHONY: build
build: ## build the release binary, target/release/windlass, with the console where Node is there
	@scripts/setup run
	@if scripts/console --can; then scripts/console; else echo 'build: without the console; it needs Node 20.19 or newer, and npm'; fi
	$(CARGO) build --release --bin windlass

.PHONY: test-console
test-console: console ## try the console in a real Chromium against a real server (Debian's package and npm's, installed on first use)
	@scripts/setup browser
	$(CARGO) build --quiet --bin windlass
	@scripts/console --document $(abspath $(TARGET_DIR))/debug/windlass
	cd web && npm test --silent && WINDLASS=$(abspath $(TARGET_DIR))/debug/windlass npm run --silent test:browser

.PHONY: setup
setup: ## install what building and testing need
	@scripts/setup test
