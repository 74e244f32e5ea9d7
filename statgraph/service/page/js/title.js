/** The title of the browser's tab: what is shown, and what the service calls itself. */

import { byId } from "./elements.js";

/** Show `what` in the title, the service's name alone where that is "". */
export function showTitle(what) {
  const name = byId("name").textContent;
  document.title = what ? `${what} · ${name}` : name;
}
