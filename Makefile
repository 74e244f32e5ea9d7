# Each target sets itself up: it makes .venv and installs into it when requirements.txt or the metadata has changed.

PYTHON ?= $(firstword $(foreach python,python3.11 python3 python3.12,$(shell \
	$(python) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && echo $(python))))
BIN := .venv/bin
QUESTION ?= Who gets the deposit back?

# Later installs into .venv keep to the pins too: a newer torch would bring several GB of CUDA packages.
export PIP_CONSTRAINT := requirements.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

HOURS ?= 1

.PHONY: demo test lint bench gpu real engines ray readers audit mutants trial docs docs-cli docs-fidelity docs-results

demo: .venv/.installed
	$(BIN)/statgraph build-graph
	$(BIN)/statgraph train
	$(BIN)/statgraph search "$(QUESTION)"

# A file's tests stay in one process, which computes on one thread; the order of files is tests/conftest.py's.
test: .venv/.installed
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Some measures need a run that the present commit has trained.
bench: .venv/.bench-installed
	$(BIN)/statgraph train --system qabisar
	$(BIN)/python -m benchmarks

# A CUDA machine for an hour: make gpu, make gpu HOURS=3 CORPUS=corpora/bsard ENCODER=folder. Nothing is installed or
# fetched on the way. DRY=1 rehearses it on the CPU.
gpu:
	$(or $(wildcard $(BIN)/python),$(PYTHON)) -m benchmarks.gpu_hour --hours $(HOURS) $(if $(CORPUS),--corpus $(CORPUS)) \
		$(if $(ENCODER),--encoder $(ENCODER)) $(if $(DRY),--dry)

real: .venv/.installed
	$(BIN)/python -m pytest -m real

# What the index engines beside faiss must do. Their packages take 500 MB, and boto's python-dateutil is not the pinned one:
# they stay in an environment of their own over .venv, without the pins.
engines: .venv-engines/.installed
	.venv-engines/bin/python -m pytest tests/index/engines tests/search/test_engine_index.py

# Embedding on a Ray cluster of this machine, two nodes of which one dies. 240 MB more in the engines' environment.
ray: .venv-engines/.ray-installed
	.venv-engines/bin/python -m pytest tests/encoders/test_article_shards.py tests/encoders/test_vector_shards.py \
		tests/encoders/test_ray_embedding.py tests/cli/test_embed.py tests/systems/updating/test_update.py

# A law embedded on Ray, its vectors on S3, and two services behind one port while the law changes, for some minutes.
readers: .venv-engines/.ray-installed
	.venv-engines/bin/python -m tests.trials.readers --corpus $(or $(CORPUS),corpora/legi-fr) --run $(or $(RUN),runs/static-fr)

# A list of what is installed (sbom.json, CycloneDX), and which of the pinned packages have known vulnerabilities.
audit: .venv-audit/.installed
	.venv-audit/bin/cyclonedx-py environment .venv --output-reproducible --output-file sbom.json
	.venv-audit/bin/pip-audit --requirement requirements.txt --no-deps --disable-pip

# A sample of small faults in the modules that everything rests on, and which of them no test notices.
mutants: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable .[mutants] --no-build-isolation
	$(BIN)/python -m tests.mutation

# Kills, damaged inputs, full disks, many callers, repetition: two hours or so. TRIAL="kills --cases 1000 --seed 7" runs one.
trial: .venv/.installed
	$(BIN)/python -m tests.trials $(TRIAL)

docs: .venv/.installed
	$(BIN)/mkdocs build --strict

docs-cli: .venv/.installed
	$(BIN)/python -m statgraph.cli.docs > docs/cli.md

docs-fidelity: .venv/.installed
	$(BIN)/python -m statgraph.studies.fidelity > docs/fidelity.md

docs-results: .venv/.installed
	$(BIN)/python -m statgraph.studies.results_page docs/results.md

.venv/.installed: requirements.txt setup.cfg pyproject.toml | .venv/bin/python
	@echo "Installing requirements.txt and statgraph into .venv (a minute or two the first time) ..."
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.venv/.bench-installed: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable .[bench] --no-build-isolation
	touch $@

.venv-engines/.installed: .venv/.installed
	$(BIN)/python -m venv --without-pip .venv-engines
	$(BIN)/python -c 'import site; print(*site.getsitepackages())' > "$$(.venv-engines/bin/python -c 'import site; print(*site.getsitepackages())')/over.pth"
	PIP_CONSTRAINT= $(BIN)/python -m pip --python .venv-engines/bin/python install --quiet --editable .[engines] --no-build-isolation
	touch $@

.venv-engines/.ray-installed: .venv-engines/.installed
	PIP_CONSTRAINT= $(BIN)/python -m pip --python .venv-engines/bin/python install --quiet --editable .[ray] --no-build-isolation
	touch $@

.venv-audit/.installed: .venv/.installed
	$(BIN)/python -m venv .venv-audit
	PIP_CONSTRAINT= .venv-audit/bin/python -m pip install --quiet "pip-audit>=2.7,<3" "cyclonedx-bom>=7,<8"
	touch $@

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or 3.12 on the PATH; install one, or name it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
