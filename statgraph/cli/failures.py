"""What ends a command, as one clear line on standard error and an exit code."""

from __future__ import annotations

import errno
import os

import click

from statgraph.cli.terminal import visible
from statgraph.errors import StatgraphError, described, on_command_line

INTERRUPTED = 130  # what a shell expects of a program ended by Ctrl-C
DEBUG_VARIABLE = "STATGRAPH_DEBUG"
_REMEDIES: dict[int | None, str] = {
    errno.ENOSPC: "free some space, or write to another disk",
    errno.EDQUOT: "free some of your quota, or write to another disk",
    errno.EACCES: "change its permissions, or choose another place",
    errno.EPERM: "change its permissions, or choose another place",
    errno.EROFS: "name a place on a writable disk",
    errno.ENOENT: "check the name, and that nothing else has moved or removed it",
    errno.ENOTDIR: "a file is where a folder should be: name another place",
    errno.EISDIR: "name a file, not a folder",
    errno.EEXIST: "remove it, or name another place",
    errno.ENOTEMPTY: "something else writes there: wait for it, or name another place",
    errno.ENAMETOOLONG: "give a shorter name",
    errno.EMFILE: "allow more open files (ulimit -n)",
    errno.ENFILE: "close other programs: the machine has too many open files",
    errno.EFBIG: "allow larger files (ulimit -f), or write to another disk",
    errno.EIO: "check the disk, or use another one",
    errno.ENOMEM: "free some memory",
}
_ANY_REMEDY = "check that place and run the command again"


def report(error: BaseException) -> int:
    """Print the error that ended a command as one line on standard error, and return the exit code."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return _failed(error.format_message(), error.exit_code)
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        for line in (*getattr(error.__cause__ or error, "__notes__", ()), "Interrupted"):
            click.echo(on_command_line(line), err=True)
        return INTERRUPTED
    if isinstance(error, StatgraphError):
        return _failed(on_command_line(error), error.exit_code)
    if isinstance(error, MemoryError):
        return _failed("not enough memory; close other programs, or use smaller batches or a machine with more", 1)
    if isinstance(error, OSError):
        return _failed(_os_error_line(error), 1)
    if os.environ.get(DEBUG_VARIABLE) or not isinstance(error, Exception):
        raise error
    remedy = f"this is a bug in statgraph: set {DEBUG_VARIABLE}=1 to see where, and report it"
    return _failed(f"unexpected error: {described(error)}; {remedy}", 1)


def _failed(message: str, exit_code: int) -> int:
    click.echo(f"Error: {visible(message)}", err=True)
    return exit_code


def _os_error_line(error: OSError) -> str:
    reason = (error.strerror or str(error) or type(error).__name__).strip().partition("\n")[0]
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{reason}; {_REMEDIES.get(error.errno, _ANY_REMEDY)}"
