# Three commands matter: `make demo`, `make quick` and `make test`.  They set up what they need in .venv, and
# install nothing on the system; `make debian` does.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_STAMP := $(VENV)/.installed-demo
STAMP := $(VENV)/.installed
CORE := $(VENV)/.core
# --no-compile: a module is compiled when it is first imported, and most modules never are.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile
# Unpacked by the tests, see docs/corpora.md
CORPORA ?= .cache/corpora
# Else each of the many programs that the tests start compiles nbspam anew.
unexport PYTHONDONTWRITEBYTECODE
# What the Python reader passes, too, where the compiled one is installed.
PYTHON_TOO := tests/mail tests/tokens tests/corpus tests/laws
# For two cores: one of three tests waits for another program.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
QUICK := not (debian or corpora or crash or slow)

.PHONY: demo quick test setup core try-core equal debian lint types docs man pictures peers bench bench-page fuzz crash \
    clean help

help:  ## What can be made
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

setup: $(STAMP)  ## A virtual environment with nbspam and its test tools

$(DEMO_STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nbspam needs Python 3.11 or later, and \
	$(PYTHON) is older or cannot run. Name another: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12"; exit 1; }
	@echo "Making a virtual environment in $(VENV): a few seconds"
	@$(PYTHON) -m venv $(VENV)
	@echo "Installing nbspam, numpy, scipy and matplotlib with pip: 80 MB to download, then about 20 seconds"
	@$(PIP) --editable '.[report]'
	@touch $@

$(STAMP): pyproject.toml $(DEMO_STAMP)
	@echo "Installing the test tools with pip: 125 MB to download, then about 30 seconds"
	@$(PIP) --editable '.[report,test]'
	@touch $@

core: $(CORE)  ## The compiled reader of mail, which is optional, built and installed in .venv (needs cargo)

$(CORE): $(DEMO_STAMP) $(wildcard core/Cargo.* core/src/*.rs core/src/*/*.rs core/src/*/*/*.rs nbspam/tables/*.txt)
	@echo "Building the compiled reader of mail with cargo: about 40 seconds"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9.4,<2'
	@VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --quiet --release --features for-test --manifest-path core/Cargo.toml
	@touch $@

# Without cargo, or if it cannot be built, everything works with the Python reader.
try-core: $(DEMO_STAMP)
	@if ! command -v cargo >/dev/null; then echo "Without the compiled core, for there is no cargo here: mail is read by Python."; \
	elif ! $(MAKE) --no-print-directory core; then echo "The compiled core cannot be built here: mail is read by Python."; fi

equal: $(CORE)  ## Read all mail of folders by both readers: make equal CORPORA="DIR..." [MUTATE=1000000 SEED=1]
	$(BIN)/python -m tests.laws.equal $(if $(MUTATE),--mutate $(MUTATE) --seed $(or $(SEED),1)) $(CORPORA)

demo: $(DEMO_STAMP) try-core  ## Train on data/, classify, explain, evaluate: demo/report.html
	@BIN=$(BIN) sh docs/demo.sh

quick: $(STAMP) lint types  ## Lint, types, and the tests that need a minute
	$(PYTEST) -q -m "$(QUICK)" --ignore tests/deploy

test: try-core lint types  ## Lint, types and every test; a test without its program or corpus skips and says why
	$(PYTEST)
	$(BIN)/python -c 'import nbspam_core' 2>/dev/null || exit 0; \
	    NBSPAM_CORE=no $(PYTEST) -q -m "$(QUICK)" $(PYTHON_TOO)

lint: $(STAMP)  ## ruff
	$(BIN)/ruff check nbspam tests experiments bench peers
	$(BIN)/ruff format --check nbspam tests experiments bench peers

types: $(STAMP)  ## mypy
	$(BIN)/mypy

debian:  ## Installs Debian's mail programs, for the tests that run them (as root)
	@sh tests/install-debian-programs.sh

docs: $(STAMP)  ## The manual as a site in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

man: $(STAMP)  ## A man page of each command in man/
	$(BIN)/python docs/man_pages.py man

pictures: $(STAMP)  ## The pictures of the README (needs CORPORA)
	$(BIN)/python -m bench.pictures $(CORPORA)

peers: $(STAMP)  ## Accuracy beside other filters, some hours (needs CORPORA, spamprobe, crm114, spamassassin)
	nice $(BIN)/python -m peers.table $(CORPORA) .cache/peers

bench: $(STAMP)  ## Speed, memory and size beside other filters (needs NBSPAM_CORPORA)
	$(BIN)/python -m bench.run

bench-page: $(STAMP)  ## The same three times, the medians written into docs/benchmarks.md and README.md
	$(BIN)/python -m bench.run 3 --write

SECONDS ?= 600
# Round after round, each with other random examples.  timeout ends with 124 if nothing was found.
fuzz: $(STAMP)  ## Generated hostile input for SECONDS (600): mail, HTML, PDF, tokens, SPAMD, mailboxes, models
	@timeout $(SECONDS) sh -c 'while $(BIN)/python -m pytest -q -n auto --hypothesis-profile=fuzz -m hypothesis \
	    tests/mail tests/tokens tests/laws tests/serve tests/corpus tests/store; do :; done; exit 1' || [ $$? = 124 ]
	@echo "nothing found in $(SECONDS) seconds"

KILLS ?= 1000
DELIVERIES ?= 1000
IMAGES ?= 500
DAMAGED ?= 2000
crash: $(STAMP)  ## KILLS (1000), DELIVERIES that fail (1000), power-loss IMAGES (500), DAMAGED models (2000)
	NBSPAM_KILLS=$(KILLS) NBSPAM_DELIVERIES=$(DELIVERIES) NBSPAM_IMAGES=$(IMAGES) NBSPAM_DAMAGED=$(DAMAGED) \
	NBSPAM_HOSTILE_BYTES=1000000 \
	    $(BIN)/python -m pytest -q -n auto --timeout=0 -m crash tests/store tests/deploy tests/mail tests/folders

experiment-%: $(STAMP)  ## trials, hostile, label, same_spam: tables of docs/decisions.md; models: of docs/model-figures.md; coverage: of docs/evaluate.md
	$(BIN)/python -m experiments.$*

clean:  ## Removes what was made
	rm -rf $(VENV) demo man site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
