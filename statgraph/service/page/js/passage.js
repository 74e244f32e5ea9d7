/** The passage of a text that matches best, and the words that it shares with the question, both marked. The service
 * counts code points, a JavaScript string halves of some. */

import { el } from "./elements.js";

const BEFORE = 30;
const SHOWN = 190;
const SLACK = 24;
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}";

/** Return the nodes of a hit's text: two or three lines about the passage, which is marked, and in it the words. */
export function snippet(text, passage, words = []) {
  const points = Array.from(text);
  const [start, end] = passage ? [passage.start, passage.end] : [0, 0];
  // A passage that is longer than what is shown is shown from about its first word of the question.
  const at = end - start > SHOWN ? start + firstWord(points.slice(start, end).join(""), words) : start;
  const first = at - start > SHOWN - BEFORE ? wordStart(points, at - BEFORE) : wordStart(points, start - BEFORE);
  const last = wordEnd(points, first + SHOWN);
  const [markStart, markEnd] = [Math.max(start, first), Math.min(end, last)];
  const marked = points.slice(markStart, markEnd).join("");
  return [
    first > 0 ? "… " : null,
    ...markWords(points.slice(first, markStart).join(""), words),
    marked ? el("mark", {}, markWords(marked, words)) : null,
    ...markWords(points.slice(Math.max(first, markEnd), last).join(""), words),
    last < points.length ? " …" : null,
  ];
}

/** Return the passage's text, or null where there is none. */
export function passageText(text, passage) {
  return passage ? Array.from(text).slice(passage.start, passage.end).join("").trim() : null;
}

/** Return a text as paragraphs, one a line, with `passage` marked where it stands, even across lines. `filled` makes
 * the nodes of a stretch of the text, given its place. */
export function paragraphs(text, passage, filled = (stretch) => [stretch]) {
  const start = passage ? text.indexOf(passage) : -1;
  const end = start < 0 ? -1 : start + passage.length;
  const made = [];
  let from = 0;
  for (const line of text.split("\n")) {
    const to = from + line.length;
    const [markFrom, markTo] = [Math.max(start, from), Math.min(end, to)];
    const marked = start >= 0 && markFrom < markTo;
    const stretch = (first, last) => filled(text.slice(first, last), first);
    const mark = () => el("mark", {}, stretch(markFrom, markTo));
    const parts = marked ? [...stretch(from, markFrom), mark(), ...stretch(markTo, to)] : stretch(from, to);
    if (line.trim()) made.push(el("p", {}, parts));
    from = to + 1;
  }
  return made;
}

/** Return the nodes of a text in which the words, in lower case, are marked wherever they stand whole. */
export function markWords(text, words) {
  const pattern = wordPattern(words);
  if (!pattern || !text) return [text];
  // Of a pattern with one group, `split` gives what lies between and what matches by turns.
  return text.split(pattern).map((part, place) => (place % 2 ? el("b", { class: "shared" }, part) : part));
}

let kept = { words: null, pattern: null };

function wordPattern(words) {
  if (kept.words !== words) kept = { words, pattern: words.length ? made(words) : null };
  return kept.pattern;
}

function made(words) {
  const longestFirst = [...words].sort((one, other) => other.length - one.length);
  const letter = `(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}_])`;
  const quoted = longestFirst.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`(?<!${letter})(${quoted.join("|")})(?!${letter})`, "giu");
}

function firstWord(text, words) {
  const pattern = wordPattern(words);
  const place = pattern ? text.search(pattern) : -1;
  return place < 0 ? 0 : Array.from(text.slice(0, place)).length;
}

function wordStart(points, at) {
  if (at <= 0) return 0;
  for (let place = at; place < at + SLACK; place += 1) if (/\s/.test(points[place - 1])) return place;
  return at;
}

function wordEnd(points, at) {
  if (at >= points.length) return points.length;
  for (let place = at; place > at - SLACK; place -= 1) if (/\s/.test(points[place])) return place;
  return at;
}
