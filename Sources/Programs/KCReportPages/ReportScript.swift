extension ReportPage {
    /// The script of the page: hides, sorts and searches the existing rows, without creating markup.
    ///
    /// The state is stored in the URL fragment, as in `#q=mail&class=key&sort=account&order=down`.
    package static let script: HTML = #"""

        // Browsers redo the layout with each part that arrives, so the table is hidden until it is complete.
        document.documentElement.classList.add("loading");
        addEventListener("DOMContentLoaded", () => {
          "use strict";
          document.documentElement.classList.remove("loading");
          const find = (id) => document.getElementById(id);
          const table = find("items");
          if (!table) return;
          const body = table.tBodies[0];
          const heads = Array.from(table.tHead.rows[0].cells);
          const column = new Map(heads.map((head, number) => [head.dataset.key, number]));
          // Columns whose cells have several words, of which each can be picked.
          const lists = new Set(heads.filter((head) => "list" in head.dataset).map((head) => head.dataset.key));
          const noun = table.dataset.noun ?? "items";
          const selects = Array.from(document.querySelectorAll("[data-condition]"));
          const search = find("search"), count = find("count"), rest = find("rest");
          const links = Array.from(document.querySelectorAll("main a[href^='#']"));
          const fold = (text) => text.normalize("NFC").toLowerCase();
          const collator = new Intl.Collator("en", { numeric: true });
          // Browsers are slow with very many rows, so only some are shown until the user searches.
          const portion = 200;

          const rows = Array.from(body.rows, (row, number) => {
            const cells = Array.from(row.cells, (cell) => cell.textContent);
            return { row, number, cells, folded: fold(cells.join("\n")) };
          });
          const cell = (item, key) =>
            key === "year" ? cell(item, "changed").slice(0, 4) : item.cells[column.get(key)];
          const words = (item, key) => lists.has(key) ? cell(item, key).split(", ") : [cell(item, key)];
          const value = (item, key) =>
            key === "size" ? Number(item.row.cells[column.get(key)].dataset.bytes ?? -1) : cell(item, key);

          let state = new URLSearchParams();
          let found = rows;
          let shown = 0;
          const sorted = { key: "", rows };

          const sort = (key) => {
            if (sorted.key === key) return;
            sorted.key = key;
            sorted.rows = rows;
            if (!column.has(key)) return;
            const keyed = rows.map((item) => ({ item, value: value(item, key) }));
            const compare = key === "size" ? (a, b) => a - b : collator.compare;
            keyed.sort((a, b) => compare(a.value, b.value) || a.item.number - b.item.number);
            sorted.rows = keyed.map((entry) => entry.item);
          };

          const more = (number) => {
            const part = document.createDocumentFragment();
            const end = Math.min(found.length, shown + number);
            for (; shown < end; shown += 1) part.append(found[shown].row);
            body.append(part);
            rest.hidden = shown === found.length;
          };
          const show = () => {
            body.replaceChildren();
            shown = 0;
            more(portion);
          };

          const apply = () => {
            const wantedWords = fold(state.get("q") ?? "").split(/\s+/).filter((word) => word);
            const conditions = selects.map((select) => [select.dataset.condition, state.get(select.dataset.condition)])
              .filter((condition) => condition[1]);
            const key = state.get("sort") ?? "";
            const isDown = state.get("order") === "down";
            sort(key);
            found = sorted.rows.filter((item) =>
              wantedWords.every((word) => item.folded.includes(word))
                && conditions.every(([name, wanted]) => words(item, name).includes(wanted)));
            if (isDown && column.has(key)) found.reverse();
            for (const head of heads) {
              const isKey = head.dataset.key === key;
              head.setAttribute("aria-sort", isKey ? (isDown ? "descending" : "ascending") : "none");
            }
            for (const link of links) {
              const [name, wanted] = [...new URLSearchParams(link.hash.slice(1))][0] ?? [];
              if (state.get(name) === wanted) link.setAttribute("aria-current", "true");
              else link.removeAttribute("aria-current");
            }
            if (document.activeElement !== search) search.value = state.get("q") ?? "";
            for (const select of selects) select.value = state.get(select.dataset.condition) ?? "";
            const number = (n) => n.toLocaleString("en");
            count.textContent = found.length === rows.length
              ? `${number(rows.length)} ${noun}` : `${number(found.length)} of ${number(rows.length)} ${noun}`;
            show();
          };

          const change = (changes) => {
            for (const [name, wanted] of changes) {
              if (wanted) state.set(name, wanted);
              else state.delete(name);
            }
            history.replaceState(null, "", "#" + state);
            apply();
          };
          const read = () => {
            state = new URLSearchParams(location.hash.slice(1));
            apply();
          };

          for (const select of selects) {
            const name = select.dataset.condition;
            const values = [...new Set(rows.flatMap((item) => words(item, name)))].sort(collator.compare);
            select.append(new Option("all", ""));
            // A list of thousands is useless to pick from; the search finds it.
            for (const text of values.slice(0, 1000)) if (text) select.append(new Option(text, text));
            select.addEventListener("change", () => change([[name, select.value]]));
          }
          for (const head of heads) {
            const button = document.createElement("button");
            button.type = "button";
            button.textContent = head.textContent;
            button.addEventListener("click", () => {
              const key = head.dataset.key;
              const isUp = state.get("sort") === key && state.get("order") !== "down";
              change([["sort", key], ["order", isUp ? "down" : ""]]);
            });
            head.replaceChildren(button);
          }
          for (const link of links) {
            link.addEventListener("click", (event) => {
              event.preventDefault();
              const [name, wanted] = [...new URLSearchParams(link.hash.slice(1))][0];
              const isOn = state.get(name) === wanted;
              change([[name, isOn ? "" : wanted]]);
              if (!isOn) find("list").scrollIntoView();
            });
          }
          search.addEventListener("input", () => change([["q", search.value]]));
          find("reset").addEventListener("click", () => {
            search.value = "";
            change([...state.keys()].map((name) => [name, ""]));
          });
          rest.firstElementChild.addEventListener("click", () => more(found.length));
          new IntersectionObserver((entries) => {
            if (entries.some((entry) => entry.isIntersecting)) more(portion);
          }, { rootMargin: "1500px" }).observe(rest);
          // Print all matching rows.
          const paper = find("paper");
          // Browsers take very long to break one large table into pages, but not many small ones.
          addEventListener("beforeprint", () => {
            table.hidden = true;
            for (let start = 0; start < found.length; start += portion) {
              const part = document.createElement("table");
              part.append(table.tHead.cloneNode(true), document.createElement("tbody"));
              part.tBodies[0].append(...found.slice(start, start + portion).map((item) => item.row));
              paper.append(part);
            }
          });
          addEventListener("afterprint", () => {
            paper.replaceChildren();
            table.hidden = false;
            show();
          });
          addEventListener("hashchange", read);
          find("tools").hidden = false;
          read();
        });

        """#
}
