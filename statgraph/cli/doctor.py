"""`statgraph doctor` and `statgraph cache`: what works on this machine, and what has been cached on it."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from statgraph.cache import cache_root, cache_usage, clear_cache
from statgraph.cli import options
from statgraph.cli.terminal import megabytes
from statgraph.doctor import Check, run_checks
from statgraph.errors import unknown_name


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check everything that statgraph depends on, and say how to fix what does not work.

    The exit code is 0 if all required parts work, else 1.
    """
    checks = []
    for check in run_checks():
        checks.append(check)
        if not as_json:
            click.echo(_line(check))
    works = all(check.ok or not check.required for check in checks)
    if as_json:
        values = {"ok": works, "checks": [asdict(check) for check in checks], "cache": _cache_values()}
        click.echo(json.dumps(values, indent=2))
    else:
        total = sum(kind.n_bytes for kind in cache_usage())
        click.echo(f"Cache: {cache_root()}, {megabytes(total)}; see 'statgraph cache'")
        click.echo("All required parts work." if works else "A required part does not work; see above.")
    ctx.exit(0 if works else 1)


def _line(check: Check) -> str:
    state = "ok" if check.ok else "FAIL" if check.required else "no"
    line = f"{state:<5} {check.name:<25} {check.version:<14} {check.seconds:6.2f} s  {check.detail}"
    return f"{line}\n{'':6}-> {check.remedy}" if check.remedy else line


@click.group("cache", invoke_without_command=True)
@options.json
@click.pass_context
def cache(ctx: click.Context, as_json: bool) -> None:
    """List what is cached: models, vectors and whole runs that take long to make.

    Everything in the cache can be removed at any time, and is made again when it is needed. It is in $STATGRAPH_CACHE,
    or else in ~/.cache/statgraph.
    """
    if ctx.invoked_subcommand:
        return
    if as_json:
        click.echo(json.dumps(_cache_values(), indent=2))
        return
    usage = cache_usage()
    for kind in usage:
        click.echo(f"{kind.kind:<12} {kind.entries:>6,}  {megabytes(kind.n_bytes):>12}")
    click.echo(
        f"{cache_root()}: {megabytes(sum(kind.n_bytes for kind in usage))}" if usage else f"{cache_root()}: empty"
    )


@cache.command("clear")
@click.argument("kind", required=False)
def clear(kind: str | None) -> None:
    """Remove one KIND of cached things, or all of them."""
    kinds = [used.kind for used in cache_usage()]
    if kind is not None and kind not in kinds:
        raise unknown_name("kind of cached things", kind, kinds or ["nothing: the cache is empty"])
    freed = clear_cache(kind or "")
    click.echo(f"Removed {kind or ', '.join(kinds) or 'nothing'} from {cache_root()}: {megabytes(freed)}")


def _cache_values() -> dict[str, object]:
    return {"folder": str(cache_root()), "kinds": [asdict(kind) for kind in cache_usage()]}
