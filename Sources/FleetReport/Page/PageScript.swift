#if Fleet
/// Sorts and filters the table of devices. It reads what the table says, and has no other data.
enum PageScript {
  static let text =
    #"""

    "use strict";
    (() => {
      const table = document.getElementById("table");
      const body = table.tBodies[0];
      const find = document.getElementById("find");
      const outcome = document.getElementById("outcome");
      const shown = document.getElementById("shown");
      const rows = Array.from(body.rows);
      const texts = rows.map((row) => row.textContent.toLowerCase());
      const order = new Intl.Collator("en", { numeric: true });

      const filter = () => {
        const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
        let count = 0;
        rows.forEach((row, index) => {
          const fits = (!outcome.value || row.classList.contains(outcome.value))
            && words.every((word) => texts[index].includes(word));
          row.hidden = !fits;
          if (fits) count += 1;
        });
        shown.textContent = count.toLocaleString("en") + " of " + rows.length.toLocaleString("en");
      };

      const value = (row, column) => {
        const cell = row.cells[column];
        if (cell.dataset.v === undefined) return cell.textContent;
        return cell.dataset.v === "" ? Infinity : Number(cell.dataset.v);
      };
      const compare = (a, b) =>
        typeof a === "number" ? (a === b ? 0 : a < b ? -1 : 1) : order.compare(a, b);

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
          const keyed = rows.map((row) => [value(row, column), row]);
          keyed.sort((a, b) => sign * compare(a[0], b[0]));
          body.replaceChildren(...keyed.map((entry) => entry[1]));
        });
      });

      find.addEventListener("input", filter);
      outcome.addEventListener("change", filter);
      document.getElementById("controls").addEventListener("submit", (e) => e.preventDefault());
      document.getElementById("controls").hidden = false;
      filter();
    })();

    """#
}
#endif
