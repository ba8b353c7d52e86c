// Search, and the switch between light and dark. The pages also work without this script.
"use strict";
let searchIndex; // set by search-index.js, which is loaded for the first search

(() => {
  const root = document.currentScript.dataset.root;
  const store = {
    // The browser may forbid storage for pages from disk.
    get: () => { try { return localStorage.getItem("theme"); } catch { return null; } },
    set: (theme) => { try { localStorage.setItem("theme", theme); } catch { /* for this page only */ } },
  };
  const chosen = store.get();
  if (chosen) document.documentElement.dataset.theme = chosen;

  document.addEventListener("DOMContentLoaded", () => {
    const theme = document.querySelector(".theme");
    theme.hidden = false;
    theme.addEventListener("click", () => {
      const dark = document.documentElement.dataset.theme
        ? document.documentElement.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      document.documentElement.dataset.theme = dark ? "light" : "dark";
      store.set(document.documentElement.dataset.theme);
    });
    const current = document.querySelector(".pages [aria-current]");
    const pages = document.querySelector(".pages");
    if (current && getComputedStyle(pages).position === "sticky") {
      pages.scrollTop = Math.max(0, current.offsetTop - pages.clientHeight / 2);
    }
    search(document.querySelector(".search"));
  });

  function search(form) {
    const field = form.querySelector("input");
    const results = form.querySelector(".results");
    form.hidden = false;

    const load = () => {
      if (searchIndex || document.getElementById("index")) return;
      const script = document.createElement("script");
      script.id = "index";
      script.src = root + "search-index.js";
      script.addEventListener("load", show);
      document.head.append(script);
    };

    function show() {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      results.hidden = words.length === 0 || !searchIndex;
      if (results.hidden) return;
      const found = searchIndex.map((entry) => ({ entry, score: score(entry, words) }))
        .filter((one) => one.score > 0).sort((a, b) => b.score - a.score).slice(0, 20);
      results.replaceChildren(...found.map((one) => result(one.entry, words)));
      if (found.length === 0) {
        const nothing = document.createElement("p");
        nothing.textContent = "Nothing was found.";
        results.append(nothing);
      }
    }

    field.addEventListener("focus", load);
    field.addEventListener("input", show);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const first = results.querySelector("a");
      if (!results.hidden && first) first.click();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        results.hidden = true;
        field.blur();
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || results.hidden) return;
      event.preventDefault();
      const all = [field, ...results.querySelectorAll("a")];
      const next = all[all.indexOf(document.activeElement) + step];
      if (next) next.focus();
    });
    document.addEventListener("click", (event) => {
      if (!form.contains(event.target)) results.hidden = true;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || /input|textarea/i.test(event.target.tagName)) return;
      event.preventDefault();
      field.focus();
    });
  }

  // Every word must occur. A match in a title has more weight, at the start of a title the most.
  function score([, title, text, counts], words) {
    const lowerTitle = title.toLowerCase();
    const lowerText = text.toLowerCase();
    let sum = 0;
    for (const word of words) {
      const at = lowerTitle.indexOf(word);
      if (at >= 0) {
        const begins = at === 0 || /[^a-z0-9]/.test(lowerTitle[at - 1]);
        sum += (begins ? 20 : 8) + (10 * word.length) / lowerTitle.length;
      }
      const count = lowerText.split(word).length - 1;
      if (at < 0 && count === 0) return 0;
      sum += Math.min(count, 4);
    }
    return sum * counts;
  }

  function result([path, title, text], words) {
    const link = document.createElement("a");
    link.href = root + path;
    const name = document.createElement("strong");
    name.append(...marked(title, words));
    const first = Math.min(
      ...words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0), text.length);
    const from = first === text.length ? 0 : Math.max(0, first - 60);
    const excerpt = document.createElement("span");
    excerpt.append(...marked((from ? "… " : "") + text.slice(from, from + 170), words));
    link.append(name, excerpt);
    return link;
  }

  function marked(text, words) {
    const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return text.split(new RegExp(`(${escaped.join("|")})`, "i")).map((part, index) => {
      if (index % 2 === 0) return part;
      const mark = document.createElement("mark");
      mark.textContent = part;
      return mark;
    });
  }
})();
