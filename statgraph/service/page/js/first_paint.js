// Runs before the first paint, and is no module for that reason: a module would wait, and the page would flash.
(() => {
  try {
    const chosen = localStorage.getItem("statgraph.theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is refused: the system's theme stays.
  }
})();
