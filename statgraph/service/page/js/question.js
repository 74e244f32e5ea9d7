/** The box that the question is typed into. */

import { go } from "./address.js";
import { byId } from "./elements.js";

export function startQuestion() {
  const box = byId("question");
  const form = byId("question-form");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const q = box.value.trim();
    if (!q) {
      box.focus();
      return;
    }
    // A new question clears the article and the heading; the filters stay, since they are visible.
    go({ q, article: null });
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

/** Write the question of the address into the box, unless the same stands there already. */
export function showQuestion(q) {
  const box = byId("question");
  if (box.value.trim() !== q) box.value = q;
}
