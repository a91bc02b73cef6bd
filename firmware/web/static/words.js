// The catalogues, and the language in use. A word in `*stars*` is said with weight.

const LANGUAGES = ["fr", "en"];
const KEPT = "morbak.lang";

export class Words {
  #catalogues = {};
  #plural;

  /** Load every catalogue and choose a language: `?lang=`, the one kept, the browser's, English. */
  async load() {
    const read = async (lang) => (await fetch(`/static/${lang}.json`)).json();
    const all = await Promise.all(LANGUAGES.map(read));
    LANGUAGES.forEach((lang, at) => (this.#catalogues[lang] = all[at]));
    this.#use([asked(), kept(KEPT), navigator.language?.slice(0, 2), "en"].find((lang) => LANGUAGES.includes(lang)));
  }

  get other() {
    return LANGUAGES.find((lang) => lang !== this.lang);
  }

  /** Change to the other language, and keep the choice. */
  swap() {
    this.#use(this.other);
    keep(KEPT, this.lang);
  }

  /** Speak a language that was chosen at the board; one that the page does not know changes nothing. */
  follow(lang) {
    if (LANGUAGES.includes(lang)) this.#use(lang);
  }

  /** Whether somebody has chosen a language on this page. */
  get settled() {
    return (asked() ?? kept(KEPT)) !== null;
  }

  #use(lang) {
    this.lang = lang;
    this.#plural = new Intl.PluralRules(lang);
    document.documentElement.lang = lang;
  }

  /** The sentence of a key, its `{placeholders}` filled in. Throws where the key is unknown. */
  say(key, values = {}, lang = this.lang) {
    const text = this.#catalogues[lang][key];
    if (text === undefined) throw new Error(`no words for ${key} in ${lang}`);
    return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  }

  /** The sentence for a number of things: `key.none` at zero, else by the language's plural rule. */
  count(key, n, values = {}) {
    return this.say(n === 0 ? `${key}.none` : `${key}.${this.#plural.select(n)}`, { n, ...values });
  }

  /** A number as the language writes it, with so many digits behind its mark. */
  number(value, digits) {
    return value.toLocaleString(this.lang, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }

  has(key) {
    return key in this.#catalogues[this.lang];
  }
}

/** A sentence without its stars, for ears. */
export const plain = (sentence) => sentence.replaceAll("*", "");

/** Put a sentence into an element, starred words in `<b>`; touches the page only where it changes. */
export function write(element, sentence) {
  if (element.dataset.said === sentence) return;
  element.dataset.said = sentence;
  element.replaceChildren(...sentence.split("*").map((part, at) => (at % 2 ? strong(part) : part)));
}

function strong(text) {
  const element = document.createElement("b");
  element.textContent = text;
  return element;
}

const asked = () => new URLSearchParams(location.search).get("lang");

// A browser may forbid storage; the choice then lasts as long as the page.
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    console.info(`${name} is not kept: the browser forbids storage`);
  }
}
