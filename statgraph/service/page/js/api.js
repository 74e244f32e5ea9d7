/** Calls of the service about the address's law: JSON in, JSON out, and a Problem for everything else. */

import { readAddress } from "./address.js";
import { keepToken, keptToken } from "./storage.js";
import { askForToken } from "./token.js";

const TIMEOUT_MS = 60_000;
const NOT_SENT = 0;

/** What went wrong, as the service's problem details tell it; `status` is 0 where the service was not reached. */
export class Problem extends Error {
  constructor(status, title, detail, retryAfterS = null) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.retryAfterS = retryAfterS;
  }
}

export function getJson(path, signal) {
  const { law } = readAddress();
  const named = law ? `${path.includes("?") ? "&" : "?"}law=${encodeURIComponent(law)}` : "";
  return call(path + named, { signal });
}

export function postJson(path, body, signal) {
  const { law } = readAddress();
  const named = JSON.stringify(law ? { ...body, law } : body);
  return call(path, { method: "POST", body: named, headers: { "Content-Type": "application/json" }, signal });
}

async function call(path, request) {
  let response = await send(path, request);
  for (let refused = false; response.status === 401; refused = true) {
    const token = await askForToken(refused || keptToken() !== null);
    if (token === null) break;
    keepToken(token);
    response = await send(path, request);
  }
  if (!response.ok) throw await problemOf(response);
  try {
    return await response.json();
  } catch {
    throw new Problem(response.status, "not JSON", "");
  }
}

async function send(path, { headers = {}, signal, ...request }) {
  const token = keptToken();
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(path, {
      ...request,
      headers: { Accept: "application/json", ...headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(NOT_SENT, "unreachable", "");
  }
}

async function problemOf(response) {
  let told = {};
  try {
    told = await response.json();
  } catch {
    // A proxy's own page: the status has to do.
  }
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const words = (value) => (typeof value === "string" ? value : "");
  const retryAfterS = Number.isNaN(seconds) ? null : seconds;
  return new Problem(response.status, words(told?.title) || response.statusText, words(told?.detail), retryAfterS);
}
