/** The switch between the system's theme, light and dark. */

import { byId, svg } from "./elements.js";
import { keepChoice } from "./storage.js";
import { say } from "./words.js";

const THEMES = ["system", "light", "dark"];
const SIGNS = {
  system: "M8 2a6 6 0 0 1 0 12Z",
  light: "M8 5a3 3 0 0 1 0 6 3 3 0 0 1 0-6Z",
  dark: "M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12Z",
};

const theme = () => document.documentElement.dataset.theme ?? "system";

/** Write the theme that is on into the switch. */
export function showTheme() {
  const words = say(`theme_${theme()}`);
  byId("theme").title = words;
  byId("theme").setAttribute("aria-label", words);
  byId("theme").replaceChildren(
    svg(
      "svg",
      { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" },
      svg("circle", { cx: 8, cy: 8, r: 6, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }),
      svg("path", { d: SIGNS[theme()], fill: "currentColor" }),
    ),
  );
}

export function startTheme() {
  byId("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    keepChoice("theme", next === "system" ? null : next);
    showTheme();
  });
}
