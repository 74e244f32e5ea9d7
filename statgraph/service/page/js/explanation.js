/** Why an article was found: in a reader's words first, what counted most; below, for those who want it, every number:
 * what the graph changed and from whom, or what each signal and each place in the law added to an ensemble's score. */

import { link } from "./address.js";
import { nodeChange, textLanguage } from "./citation.js";
import { el } from "./elements.js";
import { say, score, share, spokenLanguage } from "./words.js";

// The sources of contributions beside the signals, whose words the service has.
const LENT = ["section", "cited_by", "cites"];
const REASONS = { section: "near", cited_by: "cited_by", cites: "cites", reader: "reader" };
const MOST_REASONS = 6;
const LEAST_SHARE = 0.02;

let signals = {};

/** Take what each signal says of an article, by its name and the language, as the service gives them. */
export function setSignals(words) {
  signals = words;
}

/** Return the explanation of a hit as the service gives it, or one line where it gives none. */
export function explanationView(explanation) {
  if (!explanation) return el("p", { class: "notice" }, say("why_nothing"));
  const terms = (explanation.terms ?? []).map(({ term }) => term).join(", ");
  const detail = [el("summary", {}, say("why_detail")), ...numbers(explanation)];
  return el(
    "div",
    { class: "explanation" },
    ...bars("why_reasons", reasons(explanation), ({ words }) => el("span", { class: "phrase" }, words), share),
    terms ? el("p", {}, say("why_shared", { words: terms })) : null,
    el("details", { class: "why-detail" }, detail),
  );
}

/** Return what spoke for the article, {words, weight}, the weights as shares of all that did. */
function reasons(explanation) {
  const sums = new Map();
  for (const [words, amount] of reasonParts(explanation)) sums.set(words, (sums.get(words) ?? 0) + amount);
  const gains = [...sums].filter(([, amount]) => amount > 0).sort(([, one], [, other]) => other - one);
  const total = gains.reduce((sum, [, amount]) => sum + amount, 0);
  return gains
    .map(([words, amount]) => ({ words, weight: amount / total }))
    .filter(({ weight }) => weight >= LEAST_SHARE)
    .slice(0, MOST_REASONS);
}

function reasonParts({ score: whole, without_graph_score: own, contributions = [] }) {
  if (contributions.length) {
    return contributions.map(({ source, amount }) => [
      REASONS[source] ? say(`why_${REASONS[source]}`) : sourceName(source),
      amount,
    ]);
  }
  if (typeof own !== "number") return [];
  return [
    [say("why_meaning"), own],
    [say("why_around"), whole - own],
  ];
}

function numbers(explanation) {
  const { own_text_score: own, without_graph_score: without, neighbours = [], terms = [] } = explanation;
  const parts = (explanation.contributions ?? []).map((part) => ({ ...part, weight: part.amount }));
  const scores = [["why_score", score(explanation.score)]];
  // Equal to the last digit: there is no graph that could have changed it.
  if (typeof without === "number" && without !== explanation.score) {
    scores.push(["why_own_text", score(own)], ["why_graph", score(explanation.score - without, { signed: true })]);
  }
  return [
    el("dl", {}, scores.map(([key, value]) => el("div", {}, el("dt", {}, say(key)), el("dd", {}, value)))),
    ...bars("why_contributions", parts, contribution),
    ...bars("why_neighbours", neighbours, neighbour),
    ...bars("why_terms", terms, ({ term }) => el("span", { lang: textLanguage() }, term)),
    explanation.note ? el("p", { class: "why-note", lang: "en" }, explanation.note) : null,
  ].filter(Boolean);
}

function bars(key, rows, name, shown = score) {
  if (!rows.length) return [];
  const most = Math.max(...rows.map(({ weight }) => Math.abs(weight)), Number.EPSILON);
  const lines = rows.map((row) => {
    const bar = el("span", { class: row.weight < 0 ? "bar loss" : "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", String(Math.abs(row.weight) / most));
    const weight = el("span", { class: "number" }, shown(row.weight));
    return el("li", {}, el("span", { class: "bar-name" }, name(row)), bar, weight);
  });
  return [el("h3", {}, say(key)), el("ul", { class: "bars" }, lines)];
}

function neighbour({ kind, id, title }) {
  return link(nodeChange(kind, id, title), { lang: textLanguage(), class: `of-kind-${kind}` }, title);
}

function contribution({ source, rank, article_id: id, title }) {
  if (!LENT.includes(source)) return el("span", { class: "phrase" }, placed("why_place", detailName(source), rank));
  if (!id) return el("span", { class: "phrase" }, say(`why_${source}`));
  const lent = say(`why_${source}_of`, { title });
  return link({ article: id }, { class: "phrase" }, placed("why_lender_place", lent, rank));
}

function sourceName(source) {
  if (source === "reader") return say("why_reader");
  return signals[source]?.[spokenLanguage()] ?? signals[source]?.en ?? source;
}

/** Return a source's words, with its own name where others have the same words. */
function detailName(source) {
  const words = sourceName(source);
  const others = Object.keys(signals).filter((other) => other !== source && sourceName(other) === words);
  return others.length ? `${words}: ${source}` : words;
}

const placed = (key, what, rank) => (typeof rank === "number" ? say(key, { what, rank }) : what);
