"""The registries: the only lists of what a setting can name, from statgraph itself and from installed packages.

A package adds an implementation with an entry point, in its pyproject.toml for instance:

    [project.entry-points."statgraph.layers"]
    maximum = "my_package.maximum:MaximumLayer"

Nothing is imported before it is used. docs/extending.md says what each group's entries must be. A graph layer can also
be named by its module, `package.module:Class`: see `LayerRegistry`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from statgraph.errors import DependencyError, UsageError, reason_of, unknown_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Registry:
    """Names and what they stand for: built-ins first, then the entry points of a group by name.

    Args:
        kind: what an entry is, in words, for messages.
        group: the group of entry points that packages add to.
        built_in: "module:attribute" by name.
    """

    def __init__(self, kind: str, group: str, built_in: Mapping[str, str]):
        self.kind = kind
        self.group = group
        self._built_in = dict(built_in)

    def __iter__(self) -> Iterator[str]:
        return iter((*self._built_in, *(name for name in sorted(installed(self.group)) if name not in self._built_in)))

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in installed(self.group)

    @property
    def built_in(self) -> tuple[str, ...]:
        """Return the names that statgraph itself provides."""
        return tuple(self._built_in)

    def listed(self) -> str:
        """Return in words what can be named."""
        return ", ".join(self)

    def load(self, name: str) -> Any:
        """Return what a name stands for, imported.

        Raises:
            UsageError: if the name is not known, or two packages provide it.
            DependencyError: if the package that provides it cannot be imported.
        """
        added = installed(self.group).get(name, ())
        if name not in self:
            raise unknown_name(self.kind, name, self)
        packages = [point.dist.name if point.dist else point.module for point in added]
        providers = ["statgraph"] * (name in self._built_in) + packages
        if len(providers) > 1:
            raise UsageError(
                f"{self.kind} '{name}': provided by {' and by '.join(providers)} (entry points {self.group}); "
                "rename one, or uninstall its package"
            )
        if name in self._built_in:
            return load(self._built_in[name])
        try:
            return added[0].load()
        except Exception as error:  # a package's own code, which can raise anything
            raise DependencyError(
                f"{self.kind} '{name}': {added[0].value} of package {providers[0]} cannot be loaded "
                f"({reason_of(error)}); update or uninstall the package"
            ) from error


class LayerRegistry(Registry):
    """The graph layers: by name, or any class as `package.module:Class`.

    Importing a module runs it, and a run keeps the name of its layer. So a module is imported only where the user has
    named it: typed (`allow`), or in the environment variable `VARIABLE`, separated by commas. What a run names is not
    enough.
    """

    VARIABLE = "STATGRAPH_LAYERS"

    def __init__(self, kind: str, group: str, built_in: Mapping[str, str]):
        super().__init__(kind, group, built_in)
        self._allowed: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or _is_path(name)

    def listed(self) -> str:
        """Return in words what can be named."""
        return f"{super().listed()}, or a class as package.module:Class"

    def allow(self, names: Iterable[str]) -> None:
        """Let the modules of those names that are paths be imported from now on: the user has typed them."""
        self._allowed.update(name.partition(":")[0] for name in names if _is_path(name))

    def load(self, name: str) -> Any:
        """Return the class that a name or path stands for, imported.

        Raises:
            UsageError: if the name is not known, or two packages provide it; for a path, if the user has not named its
                module, or there is no torch.nn.Module class of that name.
            DependencyError: if the package or module cannot be imported.
        """
        if not _is_path(name):
            return super().load(name)
        module, _, attribute = name.partition(":")
        named = [part.strip() for part in os.environ.get(self.VARIABLE, "").split(",") if part.strip()]
        if module not in self._allowed and module not in named:
            raise UsageError(
                f"{self.kind} '{name}': not imported just because a run names it; if you trust that module, set "
                f"{self.VARIABLE}={','.join((*named, module))}"
            )
        try:
            found = getattr(importlib.import_module(module), attribute, None)
        except (Exception, SystemExit) as error:  # the user's own code, which can raise anything
            raise DependencyError(
                f"{self.kind} '{name}': module {module} cannot be imported ({reason_of(error)}); install its package, "
                "or add its folder to PYTHONPATH"
            ) from error
        from torch.nn import Module  # takes seconds, and a name alone needs none of it

        if not (isinstance(found, type) and issubclass(found, Module)):
            what = "not a torch.nn.Module class" if found is not None else "not there"
            raise UsageError(
                f"{self.kind} '{name}': {attribute} of module {module} is {what}; docs/extending.md has one"
            )
        return found


def _is_path(name: object) -> bool:
    """Return whether a name is of the form package.module:Class."""
    module, colon, attribute = str(name).partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


@cache
def installed(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of a group by name; more than one where packages claim the same name."""
    from importlib.metadata import entry_points  # takes a while, and --help needs none of it

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=group):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def load(place: str) -> Any:
    """Return what a place, "module:attribute", holds, imported."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


LAYERS = LayerRegistry(
    "graph layer",
    "statgraph.layers",
    {
        "qabisar": "statgraph.graph.gnn.qabisar:QabisarLayer",
        "qabisar-v2": "statgraph.graph.gnn.gatv2:QabisarV2Layer",
        "gatv2": "statgraph.graph.gnn.gatv2:GatV2Layer",
        "gat": "statgraph.graph.gnn.gat:GatLayer",
        "gcn": "statgraph.graph.gnn.gcn:GcnLayer",
        "graphsage": "statgraph.graph.gnn.k_gnn:GraphSageLayer",
        "k-gnn": "statgraph.graph.gnn.k_gnn:KGnnLayer",
    },
)
NEGATIVES = Registry(
    "source of negatives",
    "statgraph.training.negatives",
    {
        "none": "statgraph.training.negatives.source:no_negatives",
        "bm25": "statgraph.training.negatives.source:Bm25Negatives",
        "cusines": "statgraph.training.negatives.cusines:CusinesNegatives",
    },
)
RANKINGS = Registry(
    "ranking of negatives",
    "statgraph.rankings",
    {
        "semantic": "statgraph.training.negatives.cusines:SemanticRanking",
        "hierarchical": "statgraph.training.negatives.cusines:HierarchicalRanking",
        "sequential": "statgraph.training.negatives.cusines:SequentialRanking",
    },
)
BACKBONES = Registry(
    "backbone",
    "statgraph.backbones",
    {
        "embedded:static": "statgraph.encoders.embedded:embedded_static",
        "embedded:multilingual-e5-small": "statgraph.encoders.embedded:embedded_e5",
    },
)
FORMATS = Registry(
    "format",
    "statgraph.formats",
    {
        "jsonl": "statgraph.formats.tables:JSONL",
        "csv": "statgraph.formats.tables:CSV",
        "beir": "statgraph.law.store:BEIR",
        "parquet": "statgraph.formats.parquet:FORMAT",
        "bsard": "statgraph.formats.catalogue.bsard:FORMAT",
        "legi": "statgraph.formats.catalogue.legi:FORMAT",
        "xlsx": "statgraph.formats.documents.xlsx:FORMAT",
        "docx": "statgraph.formats.documents.docx:FORMAT",
        "md": "statgraph.formats.documents.markdown:FORMAT",
        "html": "statgraph.formats.documents.html:FORMAT",
        "txt": "statgraph.formats.documents.text:FORMAT",
        "xml": "statgraph.formats.xml:FORMAT",
    },
)
PROFILE_HOOKS = Registry("hook of a profile", "statgraph.profile_hooks", {})
KINDS = Registry(
    "kind of system",
    "statgraph.kinds",
    {
        "dense": "statgraph.systems.kinds:Dense",
        "bm25": "statgraph.systems.kinds:Bm25",
        "ensemble": "statgraph.systems.kinds:Ensemble",
        "student": "statgraph.systems.kinds:Student",
    },
)
SIGNALS = Registry(
    "signal",
    "statgraph.retrieval.signals",
    {
        "citation": "statgraph.retrieval.signals.citation:CitationSignal",
        "bm25": "statgraph.retrieval.signals.lexical:TextSignal",
        "citing": "statgraph.retrieval.signals.lexical:CitingSignal",
        "maxsim": "statgraph.retrieval.signals.maxsim:MaxSimSignal",
        "votes": "statgraph.retrieval.signals.votes:VotesSignal",
        "wording": "statgraph.retrieval.signals.wording:WordingSignal",
    },
)
ENGINES = Registry(
    "index engine",
    "statgraph.engines",
    {
        "faiss": "statgraph.retrieval.index.engines.faiss_engine:FaissEngine",
        "lance": "statgraph.retrieval.index.engines.lance_engine:LanceEngine",
        "milvus": "statgraph.retrieval.index.engines.milvus_engine:MilvusEngine",
    },
)
