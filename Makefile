# Everything needs only Python 3.11+ and make: each target makes the virtual environment it needs and says so.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DATA ?= $(if $(WIRESPEED_DATA),$(WIRESPEED_DATA),$(if $(wildcard ../shared/cases),../shared,))
export WIRESPEED_DATA := $(DATA)
SEEDS ?= 5
HEALTHY ?= 60
PROGRAMS := ip tc nsenter nft
export PATH := $(PATH):/usr/sbin:/sbin

.PHONY: tools demo test test-all lint bench bench-diagnosis bench-hints bench-lab bench-facts bench-record bench-archive bench-links docs words clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

$(STAMP): pyproject.toml
	@echo "==> making a virtual environment in $(VENV) (once)"
	@$(PYTHON) -c 'import sys; sys.exit("wirespeed needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV) || { echo "==> the venv module is missing"; [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq python3-venv && $(PYTHON) -m venv $(VENV); }
	@echo "==> installing wirespeed and what its tests need"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

tools:  # the lab's programs; without root, or without apt-get, it says what is missing and the lab does what it can
	@missing=""; for one in $(PROGRAMS); do command -v $$one >/dev/null || missing="$$missing $$one"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "==> installing iproute2, nftables and util-linux for the lab (missing:$$missing)"; \
	  apt-get update -qq && apt-get install -y -qq iproute2 nftables util-linux >/dev/null || echo "==> that failed; the lab does what it can"; \
	elif [ -n "$$missing" ]; then echo "==> not installed:$$missing (the lab does what it can without)"; fi

demo: $(STAMP) tools  ## break a small cluster in secret, find out, fix, verify; then published failures and this machine; one HTML report
	@$(BIN)/wirespeed demo

test: $(STAMP) tools  ## the tests
	@$(BIN)/python -m pytest -n 2 -m "not exhaustive"

test-all: $(STAMP) tools  ## the tests, the slow and thorough ones included
	@$(BIN)/python -m pytest -n 2

lint: $(STAMP)  ## formatter, linter, types, import contracts
	@$(BIN)/ruff format --check src tests benchmarks
	@$(BIN)/ruff check src tests benchmarks
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: bench-diagnosis bench-facts bench-record  ## all benchmarks

bench-diagnosis: $(STAMP)  ## score diagnose on the shared cases
	@$(BIN)/python benchmarks/diagnosis.py

bench-hints: $(STAMP)  ## do the commands that diagnose suggests give what was held back
	@$(BIN)/python benchmarks/hints.py

bench-lab: $(STAMP)  ## diagnose every fault of the lab, and healthy labs (under an hour; SEEDS=1 HEALTHY=6 for a look)
	@$(BIN)/python benchmarks/lab.py --seeds $(SEEDS) --healthy $(HEALTHY) --rows build/bench-lab.jsonl

bench-facts: $(STAMP)  ## time the inspection and 4,000 sockets
	@$(BIN)/python benchmarks/facts.py

bench-record: $(STAMP)  ## what recording costs, and bursts of 20 ms each second
	@$(BIN)/python benchmarks/recorder.py

bench-archive: $(STAMP)  ## diagnose a support archive of 300 MB with 2,000 members
	@$(BIN)/python benchmarks/archive.py

bench-links: $(STAMP)  ## our link tests beside iperf3 and sockperf
	@$(BIN)/python benchmarks/links.py

docs: $(STAMP)  ## write the reference pages from the code
	@$(BIN)/python docs/generate.py

words: $(STAMP)  ## learn again how causes are told (after a change of rules' texts or of cases)
	WIRESPEED_DATA="$${WIRESPEED_DATA:-../shared}" $(BIN)/python benchmarks/words.py

clean:  ## remove what the targets made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
