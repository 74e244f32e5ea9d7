/** The interface's words in the language that is shown. The corpus keeps its own language, whatever is chosen here. */

import { keepChoice, keptChoice } from "./storage.js";
import german from "../words/de.js";
import english from "../words/en.js";
import spanish from "../words/es.js";
import french from "../words/fr.js";
import italian from "../words/it.js";
import dutch from "../words/nl.js";

export const LANGUAGES = { de: german, en: english, es: spanish, fr: french, it: italian, nl: dutch };

// The day before the month, as the rest of Europe writes it.
const DAYS = { en: "en-GB" };

let language = "en";

/** Return the language to show: the address's, else the one chosen before, else the service's, else the browser's, else
 * that of the law, else English. */
export function chosenLanguage(asked, ofTheLaw) {
  const ofTheService = document.documentElement.dataset.language;
  const browsers = navigator.languages.map((name) => name.slice(0, 2).toLowerCase());
  const wished = [asked, keptChoice("lang"), ofTheService, ...browsers, ofTheLaw];
  return wished.find((name) => Object.hasOwn(LANGUAGES, name ?? "")) ?? "en";
}

/** Show the interface in a language from now on: `say` speaks it, and the page's own texts are replaced. */
export function speak(name) {
  language = name;
  document.documentElement.lang = name;
  for (const element of document.querySelectorAll("[data-words]")) element.textContent = say(element.dataset.words);
  for (const element of document.querySelectorAll("[data-words-label]")) {
    element.setAttribute("aria-label", say(element.dataset.wordsLabel));
  }
  for (const element of document.querySelectorAll("[data-words-placeholder]")) {
    element.placeholder = say(element.dataset.wordsPlaceholder);
  }
}

export const keepLanguage = (name) => keepChoice("lang", name);

export const spokenLanguage = () => language;

/** Return a message with its {values} filled in. One with a plural is {one, other}, and `count` chooses. */
export function say(key, values = {}) {
  let message = LANGUAGES[language][key];
  if (typeof message === "object") message = message[new Intl.PluralRules(language).select(values.count)];
  return message.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : value;
  });
}

/** Return a number as the language writes it, with at most `digits` decimals. */
export function number(value, digits = 0) {
  const format = { maximumFractionDigits: digits, minimumFractionDigits: digits };
  return new Intl.NumberFormat(language, format).format(value);
}

/** Return a day (YYYY-MM-DD) in words, or as it came where it is none. */
export function day(value) {
  const date = new Date(`${value}T00:00:00Z`);
  if (Number.isNaN(date.valueOf())) return value;
  return new Intl.DateTimeFormat(DAYS[language] ?? language, { dateStyle: "long", timeZone: "UTC" }).format(date);
}

/** Return a score with three decimals, or with its sign where it is a change. */
export function score(value, { signed = false } = {}) {
  const signDisplay = signed ? "exceptZero" : "auto";
  const format = { minimumFractionDigits: 3, maximumFractionDigits: 3, signDisplay };
  return new Intl.NumberFormat(language, format).format(value);
}

/** Return a part of a whole as a percentage. */
export function share(value) {
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 }).format(value);
}
