"""`statgraph doctor`: what works on this machine, and what to install for what does not."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from statgraph.doctor import Check, all_required_work, run_checks


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
    works = all_required_work(checks)
    if as_json:
        click.echo(json.dumps({"ok": works, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        click.echo("All required parts work." if works else "A required part does not work; see above.")
    ctx.exit(0 if works else 1)


def _line(check: Check) -> str:
    state = "ok" if check.ok else "FAIL" if check.required else "no"
    line = f"{state:<5} {check.name:<22} {check.version:<14} {check.seconds:6.2f} s  {check.detail}"
    return f"{line}\n{'':6}-> {check.remedy}" if check.remedy else line
