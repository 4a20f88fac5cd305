# Two commands matter: `make demo` and `make test`.  Both set up what they need in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Unpacked by the tests, see docs/corpora.md
CORPORA ?= .cache/corpora

.PHONY: demo test setup debian lint types docs pictures peers bench bench-page fuzz clean help

help:  ## What can be made
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

setup: $(STAMP)  ## A virtual environment with nbspam and its test tools

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[report,test]'
	touch $@

demo: $(STAMP)  ## Train on data/, classify, explain, evaluate: demo/report.html
	@BIN=$(BIN) sh docs/demo.sh

test: $(STAMP) debian lint types  ## Lint, types and every test
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(STAMP)  ## ruff
	$(BIN)/ruff check nbspam tests experiments bench peers
	$(BIN)/ruff format --check nbspam tests experiments bench peers

types: $(STAMP)  ## mypy
	$(BIN)/mypy

debian:  ## Debian's mail programs for the tests that run them (root only; others skip)
	@sh tests/install-debian-programs.sh

docs: $(STAMP)  ## The manual as a site in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

pictures: $(STAMP)  ## The pictures of the README (needs CORPORA and chromium)
	$(BIN)/python docs/pictures.py $(CORPORA)

peers: $(STAMP)  ## Accuracy beside other filters, some hours (needs CORPORA, spamprobe, crm114, spamassassin)
	nice $(BIN)/python -m peers.table $(CORPORA) .cache/peers

bench: $(STAMP)  ## Speed, memory and size beside bogofilter and SpamProbe (needs NBSPAM_CORPORA)
	$(BIN)/python -m bench.run

bench-page: $(STAMP)  ## The same three times, the medians written into docs/benchmarks.md
	$(BIN)/python -m bench.run 3 --write

fuzz: $(STAMP)  ## The laws of mail and tokens on thirty times as many generated examples
	$(BIN)/python -m pytest -q -n auto --hypothesis-profile=fuzz tests/mail tests/tokens \
	    tests/serve/test_codec.py tests/corpus

experiment-%: $(STAMP)  ## trials, hostile: tables of docs/decisions.md; models: of docs/model-figures.md
	$(BIN)/python -m experiments.$*

clean:  ## Removes what was made
	rm -rf $(VENV) demo site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
