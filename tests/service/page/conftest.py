"""The page in a real browser: Chromium, driven by Playwright, against the service over a run of the embedded sample."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

REPO = Path(__file__).parents[3]
CHROMIUM_ARGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-extensions"),
    # A container's /dev/shm can be small, and a full one ends the renderer.
    "--disable-dev-shm-usage",
)
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")  # the first takes half as long
STARTS_WITHIN_S = 60
WAITS_MS = 60_000  # a machine that others use too is slow; nothing is waited for that does not come


class Service:
    """A service that runs: its address, and what it answers, for comparing with what the page shows."""

    def __init__(self, url: str):
        self.url = url

    def get(self, path: str) -> dict:
        with urllib.request.urlopen(self.url + path, timeout=STARTS_WITHIN_S) as answer:
            return json.load(answer)

    def search(self, question: str, **asked) -> list[dict]:
        body = json.dumps({"question": question, **asked}).encode()
        request = urllib.request.Request(
            f"{self.url}/api/search", data=body, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=STARTS_WITHIN_S) as answer:
            return json.load(answer)["hits"]


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the browser's path. What the tests need is looked for here, before a run is trained for them."""
    pytest.importorskip("uvicorn", reason="the service needs the extra 'serve'")
    pytest.importorskip("playwright.sync_api", reason="drives the browser of these tests")
    found = os.environ.get("STATGRAPH_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        pytest.skip("no chromium on the PATH; install Debian's, or name one in STATGRAPH_CHROMIUM")
    return found


@pytest.fixture(scope="session")
def sample_loaded_run(chromium: str, sample_run):
    """Return the loaded_run of the trained sample."""
    from statgraph.service.loaded_run import LoadedRun

    return LoadedRun(sample_run.folder, device="cpu")


@contextmanager
def served(*loaded_runs, feedback: Path | None = None, **settings) -> Iterator[Service]:
    """Yield the service of one law or several on a free port of loopback, its server in a thread of this process."""
    import uvicorn

    from statgraph.service.app import create_app
    from statgraph.service.config import ServiceConfig
    from statgraph.service.laws import ServedLaw
    from statgraph.service.middleware import Metrics

    metrics = Metrics()
    laws = [ServedLaw(loaded_run.corpus, ServiceConfig(**settings), metrics, feedback) for loaded_run in loaded_runs]
    for law, loaded_run in zip(laws, loaded_runs, strict=True):
        law.open(loaded_run)
    app = create_app(laws)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(STARTS_WITHIN_S * 20):
        if server.started:
            break
        thread.join(0.05)
    yield Service(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}")
    server.should_exit = True
    thread.join(STARTS_WITHIN_S)


@pytest.fixture(scope="session")
def feedback_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("feedback") / "feedback.jsonl"


@pytest.fixture(scope="session")
def service(sample_loaded_run, feedback_file: Path) -> Iterator[Service]:
    """Return the service that the page is tested against."""
    with served(sample_loaded_run, feedback=feedback_file) as running:
        yield running


@pytest.fixture(scope="session")
def dated_service(sample_run, dated_run, chromium: str) -> Iterator[Service]:
    """Return the service over the same run where article 26 was replaced by article 27 on 1 March 2021."""
    from statgraph.service.loaded_run import LoadedRun

    dates = {"H26": {"valid_from": "2016-08-10", "valid_to": "2021-03-01"}, "H27": {"valid_from": "2021-03-01"}}
    with served(LoadedRun(dated_run(sample_run.folder, dates), device="cpu")) as running:
        yield running


@pytest.fixture(scope="session")
def laws_service(sample_loaded_run, train_town, tmp_path_factory) -> Iterator[Service]:
    """Return the service of two laws: the sample, and the town by BM25."""
    from statgraph.service.loaded_run import LoadedRun

    marks = tmp_path_factory.mktemp("marks") / "marks.jsonl"
    with served(sample_loaded_run, LoadedRun(train_town("bm25"), device="cpu"), feedback=marks) as running:
        yield running


@pytest.fixture(scope="session")
def token() -> str:
    return "open-sesame"


@pytest.fixture(scope="session")
def guarded_service(sample_loaded_run, token: str) -> Iterator[Service]:
    """Return the same behind a token."""
    with served(sample_loaded_run, token=token) as running:
        yield running


@pytest.fixture(scope="session")
def own_service(sample_loaded_run, tmp_path_factory) -> Iterator[Service]:
    """Return the same with a name, a logo of 8 pixels with a script in it, a contact and a language of its own."""
    from statgraph.service.config import PageConfig

    logo = tmp_path_factory.mktemp("logo") / "logo.svg"
    logo.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><script>throw 1</script></svg>')
    with served(sample_loaded_run, page=PageConfig("Town <law>", logo, "law@town.example", "de")) as running:
        yield running


@pytest.fixture(scope="session")
def chromium_address(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address by which Chromium, started once for all files, is driven."""
    folder = tmp_path_factory.mktemp("chromium")
    options = (
        "--headless=new",
        "--hide-scrollbars",
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "about:blank",
    )
    with subprocess.Popen(
        [chromium, *CHROMIUM_ARGS, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        port = folder / "DevToolsActivePort"
        end = time.monotonic() + STARTS_WITHIN_S
        while not (port.is_file() and port.read_text()) and time.monotonic() < end:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port.read_text().splitlines()[0]}"
        os.killpg(process.pid, signal.SIGTERM)  # Debian's is a script that starts the browser


# Of a module, not of the session: while Playwright runs, nothing else in its thread can use asyncio.
@pytest.fixture(scope="module")
def browser(chromium_address: str):
    """Return Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        connected = playwright.chromium.connect_over_cdp(chromium_address, timeout=3 * WAITS_MS)
        yield connected
        connected.close()


@pytest.fixture(scope="module")
def evaluate(browser, service: Service) -> Iterator[Callable]:
    """Return a function that evaluates JavaScript which imports the page's modules and changes nothing."""
    page = browser.new_page()
    page.goto(service.url)
    yield page.evaluate
    page.close()


@pytest.fixture
def open_page(browser, service: Service) -> Iterator[Callable]:
    """Return a function that opens an address of the page in a browser that knows nothing yet.

    Whatever the test, the page must ask no other host, and neither throw nor break its content security policy.
    """
    contexts, wrong = [], []

    def watch(message) -> None:
        # A status of 4xx or 5xx is logged by the browser itself; tests of problems cause them.
        if message.type == "error" and "Failed to load resource" not in message.text:
            wrong.append(message.text)

    def open_address(address: str = "/", *, url: str = service.url, before=None, **settings):
        chosen = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **settings}
        context = browser.new_context(**chosen)
        context.set_default_timeout(WAITS_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", watch)
        page.on("request", lambda request: request.url.startswith(url) or wrong.append(f"asks {request.url}"))
        if before:
            before(page)
        page.goto(url + address)
        return page

    yield open_address
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture
def expect(browser):
    """Return Playwright's `expect`, which waits for what it expects."""
    from playwright.sync_api import expect

    expect.set_options(timeout=WAITS_MS)
    return expect


@pytest.fixture
def answers() -> Callable:
    """Return a function that makes a route: the service's answer is replaced by JSON, or changed by a function."""

    def route(status: int = 200, *, change: Callable | None = None, headers: dict | None = None, **answer):
        def fulfil(route) -> None:
            if change:
                fetched = route.fetch()
                route.fulfill(response=fetched, json=change(fetched.json()))
            else:
                route.fulfill(status=status, json=answer, headers=headers)

        return fulfil

    return route
