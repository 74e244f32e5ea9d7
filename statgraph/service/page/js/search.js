/** Asking a question and showing its answer, whatever comes: hits, none, a problem, or nothing asked yet. */

import { link, readAddress } from "./address.js";
import { postJson } from "./api.js";
import { textLanguage } from "./citation.js";
import { contentsTree } from "./contents.js";
import { byId, el } from "./elements.js";
import { headingOf } from "./headings.js";
import { hitList, markOpenHit } from "./hits.js";
import { announce, loadingNotice, problemNotice } from "./notices.js";
import { passageText } from "./passage.js";
import { number, say, spokenLanguage } from "./words.js";

const SIZES = [10, 25, 50, 100, 200, 500];
const KEPT_ANSWERS = 20;
const LOADING_SHOWN_AFTER_MS = 150;

const answers = new Map();
let shown = { key: null, answer: null };
let running = null;

/** Show the answer to the address's question. `about` is what the service tells of itself. */
export async function showSearch(about, { size = 0, tries = 0, anew = false } = {}) {
  const { q: question, codes, heading, asOf, limits } = readAddress();
  const asked = { question, k: SIZES[size], codes, heading, as_of: about.dated ? asOf : null, ...limits };
  const key = JSON.stringify([{ ...asked, k: 0 }, spokenLanguage(), about.corpus]);
  const box = byId("hits");
  document.body.classList.toggle("asked", question !== "");
  if (key === shown.key && !anew) {
    markOpenHit(box);
    return;
  }
  running?.abort();
  running = null;
  shown = { key, answer: null };
  if (!question) {
    await showHome(about, box, heading, key);
    return;
  }
  const kept = answers.get(JSON.stringify(asked));
  if (kept) {
    showAnswer(kept, asked, about, size);
    return;
  }
  const request = new AbortController();
  running = request;
  box.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => {
    if (!size) box.replaceChildren(loadingNotice("searching"));
    announce(say("searching"));
  }, LOADING_SHOWN_AFTER_MS);
  try {
    const answer = await postJson("api/search", asked, request.signal);
    if (running !== request) return;
    keepAnswer(asked, answer);
    showAnswer(answer, asked, about, size);
  } catch (problem) {
    if (running !== request) return;
    shown.key = null;
    box.replaceChildren(problemNotice(problem, (next) => showSearch(about, { size, tries: next }), tries));
  } finally {
    clearTimeout(slow);
    if (running === request) {
      running = null;
      box.removeAttribute("aria-busy");
    }
  }
}

/** Return {passage, words} to mark in an article, null and none where it is no hit of the present answer. */
export function marksOfHit(articleId) {
  const hit = shown.answer?.hits.find(({ article_id: id }) => id === articleId);
  return hit ? { passage: passageText(hit.text, hit.passage), words: hit.words } : { passage: null, words: [] };
}

function keepAnswer(asked, answer) {
  if (answers.size >= KEPT_ANSWERS) answers.delete(answers.keys().next().value);
  answers.set(JSON.stringify(asked), answer);
}

function showAnswer(answer, asked, about, size) {
  shown.answer = answer;
  const box = byId("hits");
  const before = box.querySelectorAll(".hit-link").length;
  const count = answer.hits.length;
  const remarks = answer.unknown_articles.map((named) => say("unknown_article", { named }));
  const [typed, read] = [Object.keys, Object.values].map((part) => part(answer.corrected ?? {}).join(", "));
  if (read) remarks.push(say("corrected", { read, typed }));
  const notices = remarks.map((words) => el("p", { class: "notice" }, words));
  if (!count) {
    const all = { codes: [], heading: null, asOf: null, limits: {} };
    const limited = Object.keys(readAddress().limits).length > 0;
    const filtered = asked.codes.length > 0 || asked.heading !== null || asked.as_of !== null || limited;
    const everywhere = filtered ? link(all, {}, say("filter_clear")) : null;
    const none = say(`${about.by_words ? "no_shared_word" : "no_hits"}${filtered ? "_filtered" : ""}`);
    announce([...remarks, none].join(" "));
    box.replaceChildren(...notices, el("p", { class: "notice" }, none, " ", everywhere));
    return;
  }
  const doubts = answer.nothing_fits ? [say("nothing_fits")] : [];
  notices.push(...doubts.map((words) => el("p", { class: "notice" }, words)));
  // As many as were asked for: there may be more.
  const found = say(count === asked.k ? "hits_first" : "hits_found", { count, searched: answer.searched });
  announce([...remarks, ...doubts, found].join(" "));
  const took = say("hits_time", { ms: number(answer.took_ms, answer.took_ms < 10 ? 1 : 0) });
  const explain = about.explains ? () => explained(asked) : null;
  const more = count === asked.k && size + 1 < SIZES.length;
  box.replaceChildren(
    ...notices,
    el("p", { class: "found" }, `${found} · ${took}`),
    hitList(answer, { explain, feedback: about.feedback }),
    more ? moreButton(about, size) : "",
  );
  if (size) box.querySelectorAll(".hit-link")[before]?.focus();
}

function moreButton(about, size) {
  const click = () => showSearch(about, { size: size + 1, anew: true });
  return el("p", { class: "more-row" }, el("button", { type: "button", class: "quiet", click }, say("more_hits")));
}

function explained(asked) {
  const key = JSON.stringify([asked, "explained"]);
  if (!answers.has(key)) {
    const answer = postJson("api/search", { ...asked, explain: true });
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
  }
  return answers.get(key);
}

async function showHome(about, box, heading, key) {
  const examples = about.examples.map((text) =>
    el("li", {}, link(() => ({ q: text }), { lang: textLanguage() }, text)),
  );
  let path = [];
  try {
    const level = heading ? await headingOf(heading) : null;
    path = level ? [...level.ancestors, level.heading] : [];
  } catch {
    // The contents are shown from the top then.
  }
  if (shown.key !== key) return;
  box.replaceChildren(
    examples.length ? el("h2", {}, say("examples")) : "",
    examples.length ? el("ul", { class: "examples" }, examples) : "",
    el("h2", {}, say("browse")),
    el("p", { class: "law-size" }, say("corpus", { name: about.corpus, count: about.in_force })),
    contentsTree(path),
  );
}
