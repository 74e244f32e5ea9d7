/** Where to search: codes that can be ticked, the law of a day, other limits, and a chip for each filter that is on. */

import { go, readAddress } from "./address.js";
import { showDay } from "./as_of.js";
import { textLanguage } from "./citation.js";
import { byId, el } from "./elements.js";
import { headingOf } from "./headings.js";
import { day, number, say, spokenLanguage } from "./words.js";

const OPEN_CODES = 6;

/** Show the filters of the address. `about` is what the service tells of itself. */
export async function showFilters(about) {
  const { q, codes: chosen, heading, asOf, limits } = readAddress();
  showDay(about);
  showLimits(about.limits, limits);
  const headingChip = heading ? placeChip("…", () => ({ heading: null })) : null;
  const chips = [
    ...chosen.map((title) =>
      placeChip(title, () => ({ codes: readAddress().codes.filter((other) => other !== title) })),
    ),
    ...(headingChip ? [headingChip] : []),
    ...(about.dated && asOf ? [dayChip(asOf)] : []),
  ];
  byId("chips").hidden = !chips.length;
  byId("chips").replaceChildren(el("span", { class: "chips-label" }, say("filter_only")), ...chips);
  const box = byId("codes");
  // Few codes are shown at the start, where there is room; once the reader has opened or closed the list, it stays so.
  const wasOpen = box.querySelector("details")?.open ?? (!q && about.codes.length <= OPEN_CODES);
  const focused = document.activeElement?.name === "code" ? document.activeElement.value : null;
  box.replaceChildren(...(about.codes.length > 1 ? [codeChoice(about.codes, chosen, wasOpen)] : []));
  if (focused !== null) [...box.querySelectorAll("input")].find(({ value }) => value === focused)?.focus();
  if (headingChip) await nameChip(headingChip, heading);
}

function codeChoice(codes, chosen, open) {
  const choices = codes.map(({ title, articles }) =>
    el(
      "label",
      { lang: textLanguage() },
      el("input", { type: "checkbox", name: "code", value: title, checked: chosen.includes(title), change: choose }),
      " ",
      title,
      " ",
      el("span", { class: "count" }, number(articles)),
    ),
  );
  return el("details", { open }, el("summary", {}, say("filter_codes")), el("div", { class: "codes" }, choices));
}

/** Show a field for each limit that the service tells of, with its words by language; what is being typed stays. */
function showLimits(words, chosen) {
  const box = byId("limits");
  if (box.contains(document.activeElement)) return;
  const fields = Object.entries(words).map(([name, labels]) => {
    const change = ({ target: { value } }) => {
      go({ limits: { ...readAddress().limits, [name]: value.trim() ? [value.trim()] : [] } });
    };
    const field = el("input", { name, value: (chosen[name] ?? []).join(" "), change });
    return el("label", { class: "limit" }, labels[spokenLanguage()] ?? labels.en, " ", field);
  });
  box.replaceChildren(...fields);
}

function choose() {
  const ticked = byId("codes").querySelectorAll("input:checked");
  go({ codes: [...ticked].map((box) => box.value), heading: null });
}

function placeChip(title, change) {
  return chip(title, change, { label: say("filter_remove", { title }), lang: textLanguage() });
}

function dayChip(asOf) {
  const named = { day: day(asOf) };
  const label = say("as_of_remove", named);
  return chip(say("as_of_chip", named), () => ({ asOf: null }), { label, lang: spokenLanguage() });
}

function chip(title, change, { label, lang }) {
  const click = () => {
    go(change());
    byId("question").focus();
  };
  return el(
    "button",
    { type: "button", class: "chip", "aria-label": label, title: label, lang, click },
    el("span", {}, title),
    el("span", { "aria-hidden": "true", class: "chip-cross" }, "×"),
  );
}

async function nameChip(headingChip, id) {
  let title = id;
  try {
    title = (await headingOf(id)).heading.title;
  } catch {
    // The search tells what is wrong with the heading; the chip can still be taken off.
  }
  const named = placeChip(title, () => ({ heading: null }));
  if (headingChip.isConnected) headingChip.replaceWith(named);
}
