# Each target sets itself up: it makes .venv and installs into it when requirements.txt or the metadata has changed.
# Only the index engines need a second environment: boto, which S3 needs, wants another python-dateutil than the pinned one.

PYTHON ?= $(firstword $(foreach python,python3.11 python3 python3.12,$(shell \
	$(python) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && echo $(python))))
BIN := .venv/bin
ENGINES := .venv-engines/bin
QUESTION ?= Who gets the deposit back?
HOURS ?= 1

# Later installs into .venv keep to the pins too: a newer torch would bring several GB of CUDA packages.
export PIP_CONSTRAINT := requirements.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint bench gpu real engines trial docs

# Build the graph of the embedded sample, train on it, answer a question.
demo: .venv/.installed
	$(BIN)/statgraph build-graph
	$(BIN)/statgraph train
	$(BIN)/statgraph search "$(QUESTION)"

# A file's tests stay in one process, which computes on one thread; the order of files is conftest.py's. Three processes
# keep two cores busy while one waits for a server or a page.
test: .venv/.installed
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

# Style, format, and the words of the documentation (tests/words.py).
lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tests.words
	$(BIN)/mypy

# Speed and memory beside other tools. Some measures need a run, which is trained before.
bench: .venv/.installed
	$(BIN)/python -m pip install --quiet 'torch-geometric>=2.6,<3'
	$(BIN)/statgraph train --system qabisar
	$(BIN)/python -m benchmarks

# A CUDA machine for an hour: make gpu, make gpu HOURS=3 CORPUS=corpora/bsard ENCODER=folder. Nothing is installed or
# fetched on the way. DRY=1 rehearses it on the CPU.
gpu:
	$(or $(wildcard $(BIN)/python),$(PYTHON)) -m benchmarks.gpu_hour --hours $(HOURS) $(if $(CORPUS),--corpus $(CORPUS)) \
		$(if $(ENCODER),--encoder $(ENCODER)) $(if $(DRY),--dry)

# The tests on the fetched French corpus, and what else takes minutes.
real: .venv/.installed
	$(BIN)/python -m pytest -m real

# The index engines beside faiss, and embedding on a Ray cluster of this machine, of whose two nodes one is killed.
# 700 MB of packages.
engines: .venv-engines/.installed
	$(ENGINES)/python -m pytest tests/retrieval/index/engines tests/contrib/sharding

# Kills, damaged inputs, full disks, odd clients: an hour or so. TRIAL="kills --cases 1000 --seed 7" runs one of them;
# TRIAL=mutants finds small faults that no test notices.
trial: .venv/.installed
	$(if $(filter mutants,$(TRIAL)),$(BIN)/python -m pip install --quiet 'cosmic-ray==8.*')
	$(BIN)/python -m $(if $(filter mutants,$(TRIAL)),tools.mutation $(filter-out mutants,$(TRIAL)),tests.trials $(TRIAL))

# Write the generated pages again, and build the site of docs/ into site/.
docs: .venv/.installed
	$(BIN)/python -m tools
	$(BIN)/mkdocs build --strict

.venv/.installed: requirements.txt setup.cfg pyproject.toml | .venv/bin/python
	@echo "Installing requirements.txt and statgraph into .venv (a minute or two the first time) ..."
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.venv-engines/.installed: .venv/.installed
	$(BIN)/python -m venv --without-pip .venv-engines
	$(BIN)/python -c 'import site; print(*site.getsitepackages())' > "$$($(ENGINES)/python -c 'import site; print(*site.getsitepackages())')/over.pth"
	PIP_CONSTRAINT= $(BIN)/python -m pip --python $(ENGINES)/python install --quiet --no-build-isolation --editable '.[engines,sharding]' \
		'flask>=3,<4' 'flask-cors>=5' 'milvus-lite>=3,<4' 'moto[s3]>=5,<6'
	touch $@

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or 3.12 on the PATH; install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
