/** The page: what the service tells of itself first, then whatever the address says, again whenever that changes. */

import { go, onAddress, readAddress } from "./address.js";
import { getJson } from "./api.js";
import { markPassage, showArticle } from "./article.js";
import { startDay } from "./as_of.js";
import { setTextLanguage } from "./citation.js";
import { byId, el } from "./elements.js";
import { setSignals } from "./explanation.js";
import { showFilters } from "./filters.js";
import { startKeyboard } from "./keyboard.js";
import { loadingNotice, problemNotice } from "./notices.js";
import { showQuestion, startQuestion } from "./question.js";
import { showSearch } from "./search.js";
import { showTheme, startTheme } from "./theme.js";
import { showTitle } from "./title.js";
import { LANGUAGES, chosenLanguage, keepLanguage, say, speak } from "./words.js";

let about = null;

function show({ first = false } = {}) {
  const { q, article, lang } = readAddress();
  speak(chosenLanguage(lang, about?.language));
  byId("languages").value = document.documentElement.lang;
  showTheme();
  showQuestion(q);
  if (!article) showTitle(q);
  if (!about) return;
  byId("corpus").textContent = say("corpus", { name: about.corpus, count: about.articles });
  byId("version").textContent = `statgraph ${about.version}`;
  showFilters(about);
  showSearch(about).then(markPassage);
  showArticle({ focus: !first });
}

function startLanguages() {
  const box = byId("languages");
  const options = Object.entries(LANGUAGES).map(([name, { language_name: words }]) =>
    el("option", { value: name, lang: name }, words),
  );
  box.replaceChildren(...options);
  box.addEventListener("change", () => {
    keepLanguage(box.value);
    go({ lang: box.value }, { replace: true });
  });
}

async function start(tries = 0) {
  byId("hits").replaceChildren(loadingNotice());
  try {
    about = await getJson("api/about");
  } catch (problem) {
    byId("hits").replaceChildren(problemNotice(problem, start, tries));
    return;
  }
  setTextLanguage(about.language);
  setSignals(about.signals);
  byId("question").lang = about.language;
  show({ first: true });
}

startTheme();
startLanguages();
startKeyboard();
startQuestion();
startDay();
byId("brand").addEventListener("click", (event) => {
  event.preventDefault();
  go({ q: "", codes: [], heading: null, asOf: null, article: null });
  byId("question").focus();
});
onAddress(show);
show();
start();
