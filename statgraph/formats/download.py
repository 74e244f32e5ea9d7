"""Downloads of single files over https, with a size limit and a checksum."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from statgraph.artifacts import replaced_file
from statgraph.errors import FetchError, UsageError, reason_of

MAX_BYTES = 1 << 30
TIMEOUT_S = 60.0  # without a byte
_CHUNK_BYTES = 1 << 20


def is_address(source: object) -> bool:
    """Return whether a source that a user names is a web address, not a path."""
    return str(source).lower().startswith(("https://", "http://"))


def download(
    url: str, target: Path, *, sha256: str = "", max_bytes: int = MAX_BYTES, timeout_s: float = TIMEOUT_S
) -> str:
    """Write the file at an https address to `target`, whole or not at all, and return its SHA-256 in hex.

    Plain http is for loopback addresses only, redirects included. A file that is at `target` stays if this fails.

    Args:
        sha256: of the file in hex; "" if it is not known.
        max_bytes: refuse a larger file, at the latest when as many bytes have arrived.
        timeout_s: of the connection, and of each wait for more bytes.

    Raises:
        UsageError: if the address is not https, or holds a user name.
        FetchError: if the file cannot be downloaded, is too large, ends early or has another checksum.
        OSError: if `target` cannot be written.
    """
    parts = _parts(url)
    place = parts.netloc.rpartition("@")[2]
    shown = parts._replace(netloc=place, query="", fragment="").geturl()  # no password, no token of a query
    if problem := _refusal(parts):
        raise UsageError(f"{shown}: {problem}")
    digest = hashlib.sha256()
    with replaced_file(target) as partial:
        with partial.open("wb") as file:
            for chunk in _chunks(url, shown, max_bytes, timeout_s):
                digest.update(chunk)
                file.write(chunk)
        got = digest.hexdigest()
        if sha256 and got != sha256.lower():
            raise FetchError(f"{shown}: sha256 {got}, expected {sha256.lower()}; the file there has changed")
    return got


def _chunks(url: str, shown: str, max_bytes: int, timeout_s: float) -> Iterator[bytes]:
    """Yield the file's bytes; each failure of the network becomes a FetchError."""
    too_large = FetchError(f"{shown}: larger than {max_bytes / 1e6:,.0f} MB; download it yourself and name the file")
    # http is for loopback: no proxy can reach that.
    proxies = {scheme: proxy for scheme, proxy in urllib.request.getproxies().items() if scheme == "https"}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _SafeRedirects)
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "statgraph"})
        with opener.open(request, timeout=timeout_s) as response:
            announced = int(response.headers.get("Content-Length") or 0)
            if announced > max_bytes:
                raise too_large
            received = 0
            while chunk := response.read(_CHUNK_BYTES):
                received += len(chunk)
                if received > max_bytes:
                    raise too_large
                yield chunk
        if received < announced:
            raise FetchError(f"{shown}: ended after {received:,} of {announced:,} bytes; try again")
    except urllib.error.HTTPError as error:
        error.close()
        raise FetchError(f"{shown}: HTTP status {error.code} ({error.reason}); check the address") from None
    except (OSError, http.client.HTTPException, ValueError) as error:  # no connection, a timeout, an invalid address
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        text = reason_of(reason) if isinstance(reason, BaseException) else reason
        raise FetchError(f"{shown}: cannot be downloaded ({text}); check the network and the address") from None


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to addresses that `download` takes itself."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        parts = _parts(newurl)
        if problem := _refusal(parts):
            raise FetchError(f"{req.host}: redirects to {parts.scheme}://{parts.hostname}, which {problem}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # checked when it is read
    except ValueError as error:
        raise UsageError(f"not a web address ({reason_of(error)}); write it like https://HOST/FILE") from None
    return parts


def _refusal(parts: SplitResult) -> str:
    """Return why an address is not downloaded, "" if it is."""
    if not parts.hostname:
        return "has no host; write it like https://HOST/FILE"
    if "@" in parts.netloc:
        return "holds a user name; download the file yourself and name it"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)):
        return ""
    return "is not https; use an https address, or download the file yourself and name it"


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached from this machine only."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"
