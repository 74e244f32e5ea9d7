/** What the page says beside its hits: that it loads, that something failed, and to screen readers, what changed. */

import { byId, el } from "./elements.js";
import { say } from "./words.js";

const TRIES_WHEN_BUSY = 3;
const DEFAULT_RETRY_AFTER_S = 2;
const LONGEST_WAIT_S = 60;

/** Tell screen readers; the same words twice are told twice. */
export function announce(words) {
  const status = byId("status");
  status.textContent = "";
  requestAnimationFrame(() => {
    status.textContent = words;
  });
}

export function loadingNotice(key = "loading") {
  return el("p", { class: "notice loading" }, say(key));
}

/** Return one line that tells a problem and offers to try again; a busy service is tried again by itself.
 *
 * `retry` is called with how often it was tried already: hand that back as `tries` if it fails again.
 */
export function problemNotice(problem, retry, tries = 0) {
  const line = el("span", {}, problemWords(problem));
  const again = () => {
    clearInterval(ticking);
    retry(tries + 1);
  };
  const notice = el(
    "p",
    { class: "notice problem", role: "alert" },
    line,
    " ",
    el("button", { type: "button", class: "quiet", click: again }, say("retry")),
  );
  let ticking = null;
  if (problem.status === 503 && tries < TRIES_WHEN_BUSY) {
    let left = Math.min(Math.max(problem.retryAfterS ?? DEFAULT_RETRY_AFTER_S, 1), LONGEST_WAIT_S);
    line.textContent = say("problem_busy", { count: left });
    // Counting down is for the eye: an alert that changes each second would be read out each second.
    notice.removeAttribute("role");
    announce(line.textContent);
    ticking = setInterval(() => {
      left -= 1;
      if (!notice.isConnected) clearInterval(ticking);
      else if (left <= 0) again();
      else line.textContent = say("problem_busy", { count: left });
    }, 1000);
  }
  return notice;
}

function problemWords({ status, title, detail }) {
  if (status === 0) return say("problem_unreachable");
  if (status === 401) return say("problem_token");
  if (status === 503 && !detail) return say("problem_busy_still");
  const told = [title, detail].filter(Boolean).join(": ");
  return say("problem_other", { told: told || String(status) });
}
