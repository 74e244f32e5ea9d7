/** The passage of a text that matches best. The service counts code points, a JavaScript string halves of some. */

import { el } from "./elements.js";

const BEFORE = 140;
const SHOWN = 460;
const SLACK = 24;

/** Return the nodes of a hit's text, cut to what surrounds the passage, which is marked. */
export function snippet(text, passage) {
  const points = Array.from(text);
  const whole = !passage || (passage.start <= 0 && passage.end >= points.length);
  const [start, end] = whole ? [0, 0] : [passage.start, passage.end];
  const first = wordStart(points, start - BEFORE);
  const last = wordEnd(points, Math.max(first + SHOWN, Math.min(end, first + 2 * SHOWN)));
  const markEnd = Math.min(end, last);
  return [
    first > 0 ? "… " : null,
    points.slice(first, start).join(""),
    whole ? null : el("mark", {}, points.slice(start, markEnd).join("")),
    points.slice(whole ? first : markEnd, last).join(""),
    last < points.length ? " …" : null,
  ];
}

/** Return the words of the passage, or null where there is none or it is the whole text. */
export function passageWords(text, passage) {
  const points = Array.from(text);
  if (!passage || (passage.start <= 0 && passage.end >= points.length)) return null;
  return points.slice(passage.start, passage.end).join("").trim();
}

/** Return a text as paragraphs, one a line, with `words` marked where they stand, even across lines. */
export function paragraphs(text, words) {
  const start = words ? text.indexOf(words) : -1;
  const end = start < 0 ? -1 : start + words.length;
  const made = [];
  let from = 0;
  for (const line of text.split("\n")) {
    const to = from + line.length;
    const [markFrom, markTo] = [Math.max(start, from), Math.min(end, to)];
    const marked = start >= 0 && markFrom < markTo;
    const mark = () => el("mark", {}, text.slice(markFrom, markTo));
    const parts = marked ? [text.slice(from, markFrom), mark(), text.slice(markTo, to)] : [line];
    if (line.trim()) made.push(el("p", {}, parts));
    from = to + 1;
  }
  return made;
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
