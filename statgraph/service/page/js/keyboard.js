/** Keys: / goes to the question, arrows go through the hits, Esc closes the article. Enter follows a link anyway. */

import { go, readAddress } from "./address.js";
import { byId } from "./elements.js";
import { close as closePreview } from "./preview.js";

export function startKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || byId("token").open) return;
    const action = ACTIONS[event.key];
    if (action?.()) event.preventDefault();
  });
}

// Each returns whether it has done anything.
const ACTIONS = {
  "/": () => {
    if (document.activeElement?.matches("input, textarea, select")) return false;
    byId("question").focus();
    byId("question").select();
    return true;
  },
  Escape: () => {
    if (closePreview()) return true;
    if (!readAddress().article) return false;
    go({ article: null });
    return true;
  },
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
};

function step(way) {
  const question = byId("question");
  const hits = [...byId("hits").querySelectorAll(".hit-link")];
  const focused = document.activeElement;
  if (!hits.length) return false;
  if (focused === question) {
    if (way < 0 || question.selectionEnd < question.value.length) return false;
    hits[0].focus();
    return true;
  }
  const here = hits.indexOf(focused.closest?.(".hit")?.querySelector(".hit-link"));
  if (here < 0) return false;
  (hits[here + way] ?? (way < 0 ? question : focused)).focus();
  return true;
}
