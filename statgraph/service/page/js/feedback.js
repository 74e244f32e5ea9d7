/** The two buttons by which a user says whether a hit answers the question. */

import { postJson } from "./api.js";
import { el } from "./elements.js";
import { announce, problemNotice } from "./notices.js";
import { say } from "./words.js";

const marks = new Map();

/** Return the buttons of one hit; what was said of it before stays pressed, and a second click takes it back. */
export function feedbackButtons(question, hit) {
  const key = JSON.stringify([question, hit.article_id]);
  const group = el("span", { class: "feedback", role: "group", "aria-label": hit.title });
  const told = el("span", { class: "feedback-told" });
  const buttons = [true, false].map((right) => {
    const sign = el("span", { "aria-hidden": "true" }, right ? "✓ " : "✗ ");
    const click = () => mark(right, marks.get(key) === right ? null : right);
    const properties = { type: "button", class: "quiet", title: say("feedback_why"), click };
    return el("button", properties, sign, say(right ? "right" : "wrong"));
  });
  const show = () => {
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(marks.get(key) === (place === 0))));
  };
  async function mark(button, right) {
    for (const each of buttons) each.disabled = true;
    told.replaceChildren();
    try {
      await postJson("api/feedback", { question, article_id: hit.article_id, right });
      marks.set(key, right);
      told.textContent = say(right === null ? "feedback_taken_back" : "feedback_thanks");
      announce(told.textContent);
    } catch (problem) {
      told.replaceChildren(problemNotice(problem, () => mark(button, right), Number.POSITIVE_INFINITY));
    }
    for (const each of buttons) each.disabled = false;
    buttons[button ? 0 : 1].focus();
    show();
  }
  show();
  group.append(...buttons, told);
  return group;
}
