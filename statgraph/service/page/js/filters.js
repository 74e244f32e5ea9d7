/** Where to search: codes that can be ticked, and a chip for each filter that is on. */

import { go, readAddress } from "./address.js";
import { textLanguage } from "./citation.js";
import { byId, el } from "./elements.js";
import { headingOf } from "./headings.js";
import { say } from "./words.js";

/** Show the filters of the address. `codes` are those of the corpus: [{title, articles}]. */
export async function showFilters(codes) {
  const { codes: chosen, heading } = readAddress();
  const chips = chosen.map((title) =>
    chip(title, () => ({ codes: readAddress().codes.filter((other) => other !== title) })),
  );
  const headingChip = heading ? chip("…", () => ({ heading: null })) : null;
  const row = el("p", { class: "chips", hidden: !(chips.length || headingChip) });
  row.append(el("span", { class: "chips-label" }, say("filter_only")), ...chips, ...(headingChip ? [headingChip] : []));
  const box = byId("filters");
  const wasOpen = box.querySelector("details")?.open ?? false;
  const focused = document.activeElement?.name === "code" ? document.activeElement.value : null;
  box.replaceChildren(...(codes.length > 1 ? [codeChoice(codes, chosen, wasOpen)] : []), row);
  if (focused !== null) [...box.querySelectorAll("input")].find(({ value }) => value === focused)?.focus();
  if (headingChip) await nameChip(headingChip, heading);
}

function codeChoice(codes, chosen, open) {
  const choices = codes.map(({ title }) =>
    el(
      "label",
      { lang: textLanguage() },
      el("input", { type: "checkbox", name: "code", value: title, checked: chosen.includes(title), change: choose }),
      " ",
      title,
    ),
  );
  return el("details", { open }, el("summary", {}, say("filter_codes")), el("div", { class: "codes" }, choices));
}

function choose() {
  const ticked = byId("filters").querySelectorAll("input:checked");
  go({ codes: [...ticked].map((box) => box.value), heading: null });
}

function chip(title, change) {
  const click = () => {
    go(change());
    byId("question").focus();
  };
  const label = say("filter_remove", { title });
  return el(
    "button",
    { type: "button", class: "chip", "aria-label": label, title: label, lang: textLanguage(), click },
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
  const named = chip(title, () => ({ heading: null }));
  if (headingChip.isConnected) headingChip.replaceWith(named);
}
