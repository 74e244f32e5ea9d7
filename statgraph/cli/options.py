"""What several commands share: options with one meaning, and the corpus, the run and the engine that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from statgraph.config import RunConfig
from statgraph.device import DEVICES
from statgraph.errors import UsageError, unknown_name
from statgraph.law.query import COUNT, DAY, LIMITS, PATH, TEXTS
from statgraph.law.splitting import HASH, SPLITTINGS
from statgraph.settings import Described, Limits, described, help_of, limits_of

if TYPE_CHECKING:  # they load NumPy
    from statgraph.law.records import Corpus
    from statgraph.retrieval.index.engines.contract import EngineAddress
    from statgraph.retrieval.search.rewriting import Rewriter

Command = TypeVar("Command", bound=Callable[..., object])


class WholeNumber(click.IntRange):
    """A whole number within limits; anything else is refused as a setting is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number that was typed."""
        assert param is not None
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            wanted = Limits(at_least=self.min, at_most=self.max).in_words(int)
            raise UsageError(f"{param.opts[0]}: must be {wanted} (got {value})") from None


def _heading_titles(ctx: click.Context, param: click.Parameter, typed: str) -> tuple[str, ...]:
    from statgraph.formats.tables import split_path

    titles: tuple[str, ...] = split_path(typed)
    return titles


def path(*names: str, metavar: str = "DIR", **attributes: Any) -> Callable[[Command], Command]:
    """Return an option that takes the path of a folder, or of a file if `metavar` names one."""
    return click.option(*names, metavar=metavar, type=click.Path(path_type=Path), **attributes)


def number(*names: str, metavar: str = "N", **attributes: Any) -> Callable[[Command], Command]:
    """Return an option that takes a whole number of at least 1."""
    return click.option(*names, metavar=metavar, type=WholeNumber(1), **attributes)


def of_setting(config_type: type, name: str, *, metavar: str = "N", **attributes: Any) -> Callable[[Command], Command]:
    """Return an option that takes a whole number, with the default, the limits and the help of a setting."""
    limits = limits_of(config_type, name)
    known: dict[str, Any] = {"default": getattr(config_type, name), "help": help_of(config_type, name)}
    least, most = (None if limit is None else int(limit) for limit in (limits.at_least, limits.at_most))
    whole = WholeNumber(least, most)
    return click.option(f"--{name.replace('_', '-')}", metavar=metavar, type=whole, **(known | attributes))


# By kind of a limit: how click reads it, and what the help adds.
_LIMIT_KINDS: dict[str, tuple[dict[str, Any], str]] = {
    COUNT: ({"type": WholeNumber(1)}, "."),
    TEXTS: ({"multiple": True}, "; repeatable."),
    PATH: ({"callback": _heading_titles, "default": ""}, ": 'CODE > BOOK > TITLE'."),
    DAY: ({}, ": YYYY-MM-DD or today; always also searches repealed articles."),
}


def limits(*names: str) -> Callable[[Command], Command]:
    """Return what gives a command the options of these fields of `Query`."""

    def decorated(command: Command) -> Command:
        for name in reversed(names):
            limit = LIMITS[name]
            attributes, note = _LIMIT_KINDS[limit.kind]
            about: dict[str, Any] = {"default": limit.default, "metavar": limit.metavar, "help": limit.help + note}
            option = click.option(limit.option, name, **about | attributes)
            command = option(command)
        return command

    return decorated


corpus = path("--corpus", help="Corpus folder, or the name of a fetched corpus.  [default: the embedded sample]")


run_or_hub = click.option(
    "--run",
    metavar="DIR",
    help="Run folder, or hf://OWNER/NAME of the Hugging Face hub.  [default: the newest under runs/]",
)
run = path("--run", help="Run folder.  [default: the newest under runs/]")
device = click.option("--device", type=click.Choice(DEVICES), default="auto", help="Device to compute on.")
_REWRITE = click.option(
    "--rewrite",
    metavar="URL",
    help="Also search by the question in the law's words: OpenAI-compatible endpoint that rewrites it, and is sent it.",
)
_REWRITE_MODEL = click.option("--rewrite-model", metavar="NAME", help="Model to ask for at --rewrite.")
_READER = click.option(
    "--reader",
    metavar="NAME",
    help="Cross-encoder (folder or hub name) that reads an ensemble's best hits again.",
)
_NO_READER = click.option("--no-reader", is_flag=True, help="Leave out the reader that the run was trained with.")
engine = click.option(
    "--engine", metavar="NAME", default="faiss", help="Index engine: faiss, lance, milvus, or a package's."
)
engine_uri = click.option(
    "--from",
    "engine_uri",
    metavar="URI",
    help="Where `index --engine NAME --to URI` wrote the run's vectors.  [default: the run's own index]",
)
seed = of_setting(RunConfig, "seed")
open_seed = of_setting(
    RunConfig, "seed", default=None, help=f"{help_of(RunConfig, 'seed')}  [default: {RunConfig.seed}]"
)
splits = click.option(
    "--splits",
    type=click.Choice(list(SPLITTINGS)),
    default=HASH,
    help="Share out questions without a split by the hash of their id, or keep together those that share most labels "
    "or are on one topic.",
)
json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def settings(
    help_text: str = "Override one setting; repeatable.", *, metavar: str = "A.B=C"
) -> Callable[[Command], Command]:
    """Return the option `--set`, which a command takes as `settings`."""
    return click.option("--set", "settings", multiple=True, metavar=metavar, help=help_text)


def settings_page(width: int | None = None) -> str:
    """Return every setting of a run with its default, what it can be, and its help."""
    formatter = click.HelpFormatter(width=width)
    rows = list(described(RunConfig))
    for group in [Described("", "", "", "Everything that decides a run."), *(row for row in rows if not row.limits)]:
        with formatter.section(f"{group.name}: {group.help}".removeprefix(": ").rstrip(".")):
            own = [row for row in rows if row.limits and row.name.rpartition(".")[0] == group.name]
            formatter.write_dl(
                [(f"{row.name}={row.default}", f"{row.help}  [{row.limits}]") for row in own], col_max=30
            )
    return formatter.getvalue().lstrip()


def _show_settings(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(settings_page(), nl=False)
        ctx.exit()


help_settings = click.option(
    "--help-settings",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_settings,
    help="Show every setting of --set, and exit.",
)


def chosen_corpus(folder: Path | None) -> Corpus:
    """Return the corpus in a folder, or the one of that name under corpora/, or the embedded sample if None."""
    from statgraph.law.catalogue import CORPORA, sample_folder
    from statgraph.law.store import read_corpus

    if folder is None:
        return read_corpus(sample_folder())
    fetched = CORPORA / folder
    return read_corpus(fetched if not folder.exists() and fetched.is_dir() else folder)


def chosen_run(folder: Path | str | None, remedy: str | None = None) -> Path:
    """Return the run folder named, downloaded if it is on the hub, or the newest; `remedy` is shown where no run
    exists."""
    from statgraph.runs.folders import newest_run
    from statgraph.runs.hub import local_run

    return local_run(folder) if folder is not None else newest_run(remedy=remedy)


def reader(command: Command) -> Command:
    """Give a command the options `--reader` and `--no-reader`; `reader_of` joins them."""
    return _READER(_NO_READER(command))


def reader_of(given: dict[str, Any]) -> str | None:
    """Take both options out of a command's, and return the reader in place of the run's: "" for none, None for its own.

    Raises:
        UsageError: if both were given.
    """
    name: str | None = given.pop("reader")
    none: bool = given.pop("no_reader")
    refuse({"--reader and --no-reader: give only one of them": name and none})
    return "" if none else name


def searching(command: Command) -> Command:
    """Give a command the options of how a run is searched; `searching_of` reads them."""
    for option in (device, engine_uri, engine, _REWRITE_MODEL, _REWRITE):
        command = option(command)
    return command


def searching_of(given: dict[str, Any]) -> tuple[Rewriter | None, dict[str, Any]]:
    """Take these options, and those of `reader`, out of a command's; return what rewrites questions, None for nothing,
    and how to load the run, as `Retriever.load` takes it.

    Raises:
        UsageError: if options contradict one another, or an engine or an endpoint is unknown.
    """
    from statgraph.retrieval.search.rewriting import Rewriter

    url, model = given.pop("rewrite"), given.pop("rewrite_model")
    if url is None and model is not None:
        raise UsageError("--rewrite-model: needs the endpoint that has the model; add --rewrite URL")
    rewriter = None if url is None else Rewriter(url, model or "")
    address = engine_address(given.pop("engine"), given.pop("engine_uri"), "--from")
    return rewriter, {"device": given.pop("device"), "engine": address, "reader": reader_of(given)}


def refuse(contradictions: Mapping[str, object]) -> None:
    """Raise UsageError with the first message whose value is true."""
    for message, applies in contradictions.items():
        if applies:
            raise UsageError(message)


def engine_address(name: str, uri: str | None, option: str) -> EngineAddress | None:
    """Return the engine at the URI that an option names, or None for the run's own index."""
    from statgraph.registry import ENGINES
    from statgraph.retrieval.index.engines.contract import EngineAddress

    if name not in ENGINES:
        raise unknown_name(ENGINES.kind, name, ENGINES)
    if uri is None and name != "faiss":
        raise UsageError(
            f"--engine {name}: needs the place of its vectors; add {option} URI (a folder, s3://... or http://...)"
        )
    return None if uri is None else EngineAddress(name, uri)
