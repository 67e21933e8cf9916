extension ReportPage {
    /// The style of the page, for light and dark mode, wide and narrow windows, and print.
    package static let style: HTML = """
        \(commonStyle)
        .cards section:nth-child(2) dl { display: block; }
        .cards section:nth-child(2) dd { margin-bottom: .6rem; }
        th:nth-child(1) { width: 8%; } th:nth-child(2) { width: 15%; } th:nth-child(3) { width: 14%; }
        th:nth-child(4) { width: 12%; } th:nth-child(5) { width: 10%; } th:nth-child(6) { width: 11%; }
        th:nth-child(7), th:nth-child(8) { width: 8.4%; } th:nth-child(n+9) { width: 6.6%; }
        td:nth-child(n+7) { overflow-wrap: normal; font-variant-numeric: tabular-nums; }
        td:nth-child(7), td:nth-child(8), td:nth-child(9) { white-space: nowrap; }
        td:nth-child(2) { font-weight: 600; }
        @media screen and (max-width: 46rem) {
          td:nth-child(1), td:nth-child(2), td:nth-child(3) { grid-column: 1 / -1; }
          td:nth-child(1) { color: var(--faint); }
          td:nth-child(2) { order: -1; font-size: .95rem; }
          td:nth-child(n+4)::before { display: block; color: var(--faint); font-size: .7rem; }
          td:nth-child(4)::before { content: "Label"; }
          td:nth-child(5)::before { content: "Group"; }
          td:nth-child(6)::before { content: "Accessible"; }
          td:nth-child(7)::before { content: "Created"; }
          td:nth-child(8)::before { content: "Changed"; }
          td:nth-child(9)::before { content: "Secret"; }
          td:nth-child(10)::before { content: "Verdict"; }
        }

        """

    /// The style of all pages with a table that is searched.
    package static let commonStyle: HTML = """

        :root {
          color-scheme: light dark;
          --ground: #f5f6f8; --card: #ffffff; --ink: #1c2127; --faint: #57606a; --line: #d5dae0;
          --accent: #2f63c0; --track: #e4e8ed; --yes: #1a6b3c; --no: #94500a; --bar-no: #e0a04a; --hover: #eef3fb;
        }
        @media screen and (prefers-color-scheme: dark) {
          :root {
            --ground: #11151a; --card: #191f26; --ink: #e6eaee; --faint: #9da7b3; --line: #303842;
            --accent: #7fb0ff; --track: #2a323b; --yes: #7ddc9f; --no: #f5b865; --bar-no: #c98a35; --hover: #212a35;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 2rem clamp(1rem, 3vw, 2.5rem) 3rem; max-width: 92rem;
          background: var(--ground); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
        }
        h1, h2, h3, p, ul, dl, dd { margin: 0; padding: 0; }
        h1 { font-size: clamp(1.6rem, 4vw, 2.4rem); line-height: 1.2; overflow-wrap: anywhere; }
        h2 { font-size: 1.15rem; }
        h3 { font-size: .95rem; }
        code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85em; overflow-wrap: anywhere; }
        .device { white-space: nowrap; }
        a { color: var(--accent); }
        ul { list-style: none; }
        .yes { color: var(--yes); }
        .no { color: var(--no); }
        .kind { color: var(--faint); font-size: .8rem; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; }
        .lead { color: var(--faint); overflow-wrap: anywhere; }
        .note { margin-top: .75rem; color: var(--no); }

        .tally { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1.25rem 0 .6rem; }
        .tally b { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
        svg { display: block; width: 100%; border-radius: 3px; }
        .whole { height: .6rem; }
        .part, .bar rect { fill: var(--accent); }
        .rest { fill: var(--bar-no); }

        .cards, .charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
        .cards { margin: 1.75rem 0 2rem; }
        .charts { margin: .75rem 0 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
        .card { padding: 1.1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .7rem; }
        .card h2, .card h3 { margin-bottom: .6rem; }
        .card ul:not(.chart) { display: grid; gap: .5rem; }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .3rem 1rem; }
        dt { color: var(--faint); }
        dd { overflow-wrap: anywhere; }

        .chart { font-size: .9rem; }
        .line {
          display: grid; grid-template-columns: minmax(0, 15em) minmax(2rem, 1fr) max-content; gap: .75rem; align-items: center;
          padding: .15rem .4rem; margin: 0 -.4rem; border-radius: .35rem; color: inherit; text-decoration: none;
        }
        .chart .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .chart .number { min-width: 3.2em; text-align: right; font-variant-numeric: tabular-nums; }
        .bar { height: .65rem; background: var(--track); }
        a.line:hover { background: var(--hover); }
        a.line[aria-current] { background: var(--hover); font-weight: 600; }

        #tools { display: flex; flex-wrap: wrap; gap: .6rem .8rem; align-items: end; margin: .75rem 0 .5rem; }
        #tools[hidden], #rest[hidden], #items[hidden], .loading #items { display: none; }
        label { display: grid; gap: .15rem; color: var(--faint); font-size: .8rem; }
        label.wide { flex: 1 1 12rem; }
        input, select, #tools button, #rest button {
          padding: .45rem .6rem; min-height: 2.4rem; max-width: 100%; font: inherit; font-size: .95rem; color: var(--ink);
          background: var(--card); border: 1px solid var(--line); border-radius: .45rem;
        }
        select { max-width: 10rem; }
        button { cursor: pointer; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
        #count { min-height: 1.5em; color: var(--faint); font-size: .9rem; font-variant-numeric: tabular-nums; }
        #rest { margin-top: .75rem; text-align: center; }

        .frame { margin-top: .4rem; background: var(--card); border: 1px solid var(--line); border-radius: .7rem; }
        table { width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0; font-size: .8125rem; line-height: 1.35; }
        th, td { padding: .5rem .55rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; unicode-bidi: plaintext; }
        td { border-top: 1px solid var(--line); }
        tbody tr:hover td { background: var(--hover); }
        th { position: sticky; top: 0; background: var(--card); border-bottom: 1px solid var(--line); }
        th:first-child { border-top-left-radius: .7rem; } th:last-child { border-top-right-radius: .7rem; }
        th button { padding: 0; border: 0; background: none; color: inherit; font: inherit; text-align: left; }
        th button:hover { text-decoration: underline; }
        th[aria-sort="ascending"] button::after { content: " \\2191"; color: var(--accent); }
        th[aria-sort="descending"] button::after { content: " \\2193"; color: var(--accent); }
        footer { margin-top: 2.5rem; color: var(--faint); font-size: .85rem; }

        @media screen and (min-width: 46rem) and (max-width: 70rem) {
          .frame { overflow-x: auto; }
          table { min-width: 67rem; }
        }
        @media screen and (max-width: 46rem) {
          select { max-width: none; width: 100%; }
          #tools label { flex: 1 1 45%; }
          #tools label.wide { flex-basis: 100%; }
          dl { display: block; }
          dd { margin-bottom: .4rem; }
          table, tbody { display: block; }
          thead tr { display: flex; flex-wrap: wrap; gap: .35rem 1rem; padding: .6rem .9rem; }
          th { position: static; padding: 0; border: 0; }
          thead th:nth-child(n) { width: auto; }
          tbody tr { display: grid; grid-template-columns: 1fr 1fr; gap: .3rem .9rem; padding: .7rem .9rem; border-top: 1px solid var(--line); }
          td { border: 0; padding: 0; }
          td:empty { display: none; }
        }
        @media print {
          @page { size: A4 landscape; margin: 12mm; }
          :root { --ground: #fff; }
          body { padding: 0; max-width: none; font-size: 9pt; }
          #tools, #rest, th button::after { display: none !important; }
          .card, .line, tr { break-inside: avoid; }
          h2 { break-after: avoid; }
          .frame { border: 0; }
          table { font-size: 7.5pt; }
          th { position: static; }
          th, td { padding: 1.2mm 1.5mm; }
          thead { display: table-header-group; }
          svg, .bar { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          a { color: inherit; text-decoration: none; }
        }

        """
}
