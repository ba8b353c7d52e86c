#if Fleet
/// The script that sorts, filters and paginates the table of devices. The table is its only data.
enum PageScript {
  static let text =
    #"""

    "use strict";
    (() => {
      /* A long table is the text of a noscript element, which a browser with scripts enabled does
         not parse. Its rows, one per line, become elements step by step. */
      const source = document.getElementById("long");
      const lines = [];
      if (source) {
        const text = source.textContent;
        const start = text.indexOf("<tbody>") + "<tbody>".length;
        const end = text.lastIndexOf("</tbody>");
        lines.push(...text.slice(start, end).trim().split("\n"));
        const holder = document.createElement("div");
        holder.innerHTML = text.slice(0, start) + text.slice(end);
        source.replaceWith(holder.firstElementChild);
      }
      const table = document.getElementById("table");
      const body = table.tBodies[0];
      const find = document.getElementById("find");
      const outcome = document.getElementById("outcome");
      const shown = document.getElementById("shown");
      const rows = Array.from(body.rows);
      const texts = [];
      const keys = [];
      const isLarge = table.classList.contains("large");
      /* Rows per page. A browser lays out a table as one task, whose time grows with its rows; the
         other rows are detached. */
      const pageSize = 200;
      const count = source ? lines.length : rows.length;
      const scratch = document.createElement("table").createTBody();
      const read = (end) => {
        if (rows.length >= Math.min(end, count)) return;
        scratch.innerHTML = lines.slice(rows.length, end).join("");
        rows.push(...scratch.rows);
      };
      const readOn = () => {
        if (rows.length >= count) return;
        read(rows.length + pageSize);
        setTimeout(readOn);
      };
      let order = Array.from({ length: count }, (none, index) => index);
      let fitting = order;
      let first = 0;

      const pager = document.createElement("nav");
      pager.className = "pager";
      pager.setAttribute("aria-label", "Pages of the table");
      const range = document.createElement("span");
      const turn = (label, pages) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = label;
        button.addEventListener("click", () => {
          first += pages * pageSize;
          show();
          table.parentElement.scrollIntoView();
        });
        return button;
      };
      const previous = turn("Previous", -1);
      const next = turn("Next", 1);
      pager.append(previous, next, range);
      table.parentElement.after(pager);

      const put = (indexes) => {
        read(indexes.reduce((most, index) => Math.max(most, index + 1), 0));
        body.replaceChildren(...indexes.map((index) => rows[index]));
      };
      const number = (value) => value.toLocaleString("en");
      const show = () => {
        const end = Math.min(first + pageSize, fitting.length);
        put(fitting.slice(first, end));
        pager.hidden = fitting.length <= pageSize;
        previous.disabled = first === 0;
        next.disabled = end === fitting.length;
        range.textContent = number(first + 1) + " to " + number(end) + " of "
          + number(fitting.length);
      };

      const textOf = (index) => texts[index] ??= rows[index].textContent.toLowerCase();
      const filter = () => {
        const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
        if (outcome.value || words.length > 0) read(count);
        fitting = order.filter((index) =>
          (!outcome.value || rows[index].classList.contains(outcome.value))
            && words.every((word) => textOf(index).includes(word)));
        first = 0;
        show();
        shown.textContent = number(fitting.length) + " of " + number(count);
      };

      /* Texts are compared as padded keys: a collator is slow for ten thousand texts. */
      const textKey = (text) => text.normalize("NFKD").toLowerCase()
        .replace(/[0-9]+/g, (digits) => digits.padStart(12, "0"));
      const key = (row, column) => {
        const cell = row.cells[column];
        if (cell.dataset.v === undefined) return textKey(cell.textContent);
        return cell.dataset.v === "" ? Infinity : Number(cell.dataset.v);
      };
      const keysOf = (column) => {
        read(count);
        return keys[column] ??= rows.map((row) => key(row, column));
      };

      const heads = Array.from(table.tHead.rows[0].cells);
      heads.forEach((head, column) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = head.textContent;
        head.replaceChildren(button);
        button.addEventListener("click", () => {
          const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
          heads.forEach((other) => other.removeAttribute("aria-sort"));
          head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
          const by = keysOf(column);
          order = order.slice().sort((a, b) =>
            by[a] === by[b] ? a - b : by[a] < by[b] ? -sign : sign);
          filter();
        });
      });

      /* Paper has no buttons: all matching rows are printed; of a large table, only marked rows. */
      window.addEventListener("beforeprint", () => {
        read(count);
        put(isLarge
          ? fitting.filter((index) => rows[index].classList.contains("paper")) : fitting);
      });
      window.addEventListener("afterprint", show);
      find.addEventListener("input", filter);
      outcome.addEventListener("change", filter);
      document.getElementById("controls").addEventListener("submit", (e) => e.preventDefault());
      document.getElementById("controls").hidden = false;
      filter();
      table.classList.add("paged");
      setTimeout(readOn);
    })();

    """#
}
#endif
