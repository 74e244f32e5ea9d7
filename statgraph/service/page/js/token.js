/** The dialog that asks for the service's token. */

import { byId } from "./elements.js";
import { say } from "./words.js";

let asked = null;

/** Return the token that the user gives, or null if they do not; calls that come meanwhile get the same answer. */
export function askForToken(refused) {
  asked ??= ask(refused).finally(() => {
    asked = null;
  });
  return asked;
}

function ask(refused) {
  const dialog = byId("token");
  const value = byId("token-value");
  const note = byId("token-refused");
  note.textContent = refused ? say("token_refused") : "";
  note.hidden = !refused;
  value.value = "";
  let given = null;
  return new Promise((answer) => {
    byId("token-cancel").onclick = () => dialog.close();
    byId("token-form").onsubmit = () => {
      given = value.value;
    };
    dialog.onclose = () => {
      value.value = "";
      answer(given);
    };
    dialog.showModal();
  });
}
