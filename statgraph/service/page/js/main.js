/** The page: what the service tells of itself first, then whatever the address says, again whenever that changes. */

import { go, onAddress, readAddress, setLimits, writeAddress } from "./address.js";
import { getJson } from "./api.js";
import { markPassage, showArticle } from "./article.js";
import { startDay } from "./as_of.js";
import { setTextLanguage } from "./citation.js";
import { byId, el } from "./elements.js";
import { setSignals } from "./explanation.js";
import { showFilters } from "./filters.js";
import { headingOf, onDay } from "./headings.js";
import { startKeyboard } from "./keyboard.js";
import { loadingNotice, problemNotice } from "./notices.js";
import { showQuestion, startQuestion } from "./question.js";
import { showSearch } from "./search.js";
import { showTheme, startTheme } from "./theme.js";
import { showTitle } from "./title.js";
import { LANGUAGES, chosenLanguage, keepLanguage, say, speak } from "./words.js";

let about = null;
let countedDay = null; // that the counts of `about` are of
let { law } = readAddress(); // of the page for good: another law is another page
let lostLaw = []; // that the address asked for first
let dropped = []; // what the address asked for and is not there

function show({ first = false } = {}) {
  const { q, article, lang } = readAddress();
  speak(chosenLanguage(lang, about?.language));
  byId("languages").value = document.documentElement.lang;
  showTheme();
  if (!first) showQuestion(q); // it stands there, unless something else has been typed meanwhile
  if (!article) showTitle(q);
  if (!about) return;
  byId("corpus").textContent = say("corpus", { name: about.corpus, count: about.in_force });
  byId("version").textContent = `statgraph ${about.version}`;
  showFilters(about);
  showSearch(about).then(markPassage);
  showArticle({ focus: !first });
  byId("link-notice").hidden = !dropped.length;
  byId("link-notice").textContent = say("link_unknown", { what: dropped.join(", ") });
}

/** Show what the address says, once what it asks for is known: with the counts of its day, and less what is not there,
 * such as a code of an older law; a notice names that. */
async function settle(first) {
  const { codes, heading, unknown } = readAddress();
  const missing = codes.filter((code) => !about.codes.some(({ title }) => title === code));
  const lost = heading !== null && (await headingOf(heading).catch(({ status }) => status)) === 404;
  dropped = [...lostLaw, ...unknown, ...missing.map((code) => `code=${code}`), ...(lost ? [`heading=${heading}`] : [])];
  if (dropped.length) {
    const kept = { codes: codes.filter((code) => !missing.includes(code)), heading: lost ? null : heading };
    history.replaceState(history.state, "", writeAddress({ ...readAddress(), ...kept }));
  }
  lostLaw = [];
  const day = about.dated ? readAddress().asOf : null;
  if (day !== countedDay) {
    // Where this fails, the search fails too, and says so.
    about = await getJson(onDay("api/about")).catch(() => about);
    countedDay = day;
  }
  show({ first });
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

function startLaws() {
  const box = byId("laws");
  box.replaceChildren(...about.laws.map((name) => el("option", { value: name }, name)));
  box.value = law ?? about.laws[0];
  box.hidden = about.laws.length < 2;
  box.addEventListener("change", () => go({ law: box.value, codes: [], heading: null, limits: {}, article: null }));
}

async function start(tries = 0) {
  byId("hits").replaceChildren(loadingNotice());
  try {
    about = await getJson("api/about");
  } catch (problem) {
    if (problem.status === 422 && law) {
      const address = new URL(location.href);
      address.searchParams.delete("law");
      history.replaceState(history.state, "", address);
      [lostLaw, law] = [[`law=${law}`], null];
      start();
      return;
    }
    byId("hits").replaceChildren(problemNotice(problem, start, tries));
    return;
  }
  startLaws();
  setTextLanguage(about.language);
  setSignals(about.signals);
  setLimits(Object.keys(about.limits));
  byId("question").lang = about.language;
  await settle(true);
}

startTheme();
startLanguages();
startKeyboard();
startQuestion();
startDay();
byId("brand").addEventListener("click", (event) => {
  event.preventDefault();
  go({ q: "", codes: [], heading: null, asOf: null, limits: {}, article: null });
  byId("question").focus();
});
onAddress(() => {
  if (readAddress().law !== law) location.reload();
  else if (about) settle(false);
  else show();
});
show();
start();
