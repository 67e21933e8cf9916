extension StatusPage {
    /// The style of the page, for light and dark mode, wide and narrow windows, and print.
    static let style: HTML = """

        :root {
          color-scheme: light dark;
          --ground: #f5f6f8; --card: #ffffff; --ink: #1c2127; --faint: #57606a; --line: #d5dae0;
          --accent: #2f63c0; --same: #a9c1ea; --none: #e4e8ed; --good: #1a6b3c; --bad: #94500a;
        }
        @media screen and (prefers-color-scheme: dark) {
          :root {
            --ground: #11151a; --card: #191f26; --ink: #e6eaee; --faint: #9da7b3; --line: #303842;
            --accent: #7fb0ff; --same: #3f5c8c; --none: #2a323b; --good: #7ddc9f; --bad: #f5b865;
          }
        }
        * { box-sizing: border-box; }
        body {
          margin: 0 auto; padding: 2rem clamp(1rem, 3vw, 2.5rem) 3rem; max-width: 80rem;
          background: var(--ground); color: var(--ink);
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
        }
        h1, h2, h3, p, ul, dl, dd, figure { margin: 0; padding: 0; }
        h1 { font-size: clamp(1.6rem, 4vw, 2.4rem); line-height: 1.2; }
        h2 { font-size: 1.15rem; margin: 1.75rem 0 .6rem; }
        h3 { font-size: 1.1rem; overflow-wrap: anywhere; }
        .kind { color: var(--faint); font-size: .8rem; font-weight: 600; letter-spacing: .08em; text-transform: uppercase; }
        .good { color: var(--good); }
        .bad { color: var(--bad); }
        .faint, figcaption, footer { color: var(--faint); }
        .path { overflow-wrap: anywhere; }
        .verdict { margin-top: 1.25rem; padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line);
          border-left: .35rem solid currentColor; border-radius: .5rem; }
        .verdict h2 { margin: 0 0 .5rem; }
        .verdict ul { padding-left: 1.2rem; color: var(--ink); overflow-wrap: anywhere; }
        .problems > li + li { margin-top: .5rem; }
        .problems ul { color: var(--faint); }
        .cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
        .card { display: grid; gap: .8rem; align-content: start; padding: 1.1rem 1.25rem; background: var(--card);
          border: 1px solid var(--line); border-radius: .7rem; }
        .state { margin-top: -.7rem; font-weight: 600; }
        svg { display: block; }
        .nights { width: 100%; max-width: 17rem; }
        .saved { fill: var(--accent); background: var(--accent); }
        .same { fill: var(--same); background: var(--same); }
        .none { fill: var(--none); background: var(--none); }
        figcaption { font-size: .8rem; line-height: 1.6; }
        .key { display: inline-block; width: .7em; height: .7em; border-radius: .15em; margin: 0 .3em 0 .5em; }
        .key:first-child { margin-left: 0; }
        .chart { width: 100%; height: 2.6rem; margin-top: .2rem; fill: var(--accent); border-bottom: 1px solid var(--line); }
        dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1rem; font-size: .9rem; }
        dt { color: var(--faint); }
        table { width: 100%; border-collapse: collapse; background: var(--card); border: 1px solid var(--line); font-size: .9rem; }
        th, td { padding: .5rem .8rem; text-align: left; vertical-align: top; }
        td { border-top: 1px solid var(--line); }
        th { white-space: nowrap; }
        td:first-child { font-weight: 600; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        footer { margin-top: 2.5rem; font-size: .85rem; }

        @media screen and (max-width: 46rem) {
          table, tbody { display: block; }
          thead { display: none; }
          tbody tr { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; padding: .7rem .9rem; }
          tbody tr + tr { border-top: 1px solid var(--line); }
          td { display: contents; }
          td::before { color: var(--faint); font-weight: 400; }
          .jobs td:nth-child(1)::before { content: "Job"; }
          .jobs td:nth-child(2)::before { content: "Runs"; }
          .jobs td:nth-child(3)::before { content: "Last good"; }
          .jobs td:nth-child(4)::before { content: "Items"; }
          .jobs td:nth-child(5)::before { content: "Last run"; }
          .jobs td:nth-child(6)::before { content: "Folder"; }
          .copies td:nth-child(1)::before { content: "On"; }
          .fleet td:nth-child(1)::before { content: "Fleet"; }
          .copies td:nth-child(2)::before, .fleet td:nth-child(2)::before { content: "Job"; }
          .copies td:nth-child(3)::before { content: "Last good"; }
          .fleet td:nth-child(3)::before { content: "Last receipt"; }
          .copies td:nth-child(4)::before { content: "Read back"; }
          .copies td:nth-child(5)::before, .fleet td:nth-child(4)::before { content: "Last try"; }
          td:empty { display: none; }
        }
        @media print {
          :root { --ground: #fff; }
          body { padding: 0; max-width: none; font-size: 9pt; }
          .card, tr, .verdict { break-inside: avoid; }
          svg, .key { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
        }

        """
}
