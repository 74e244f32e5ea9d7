/** What the browser keeps: choices outlive the tab, the token does not. A browser that refuses storage loses both. */

function keep(area, name, value) {
  try {
    if (value === null) area().removeItem(name);
    else area().setItem(name, value);
  } catch {
    // Refused: the choice holds until the page is left.
  }
}

function kept(area, name) {
  try {
    return area().getItem(name);
  } catch {
    return null;
  }
}

const lasting = () => localStorage;
const ofTheTab = () => sessionStorage;

export const keepChoice = (name, value) => keep(lasting, `statgraph.${name}`, value);
export const keptChoice = (name) => kept(lasting, `statgraph.${name}`);
export const keepToken = (value) => keep(ofTheTab, "statgraph.token", value);
export const keptToken = () => kept(ofTheTab, "statgraph.token");
