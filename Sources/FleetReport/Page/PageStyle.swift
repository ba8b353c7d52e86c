#if Fleet
/// The style of the page for light and dark screens of any width, and for paper. No information is
/// conveyed only by color.
package enum PageStyle {
  package static let text =
    #"""

    :root {
      --ground: #ffffff; --panel: #f5f6f8; --ink: #1b2127; --soft: #59636e; --line: #dde1e6;
      --succeeded: #2e7d5b; --failed: #c23b31; --unseen: #946010; --neutral: #7557a8;
      --running: #2467b3; --waiting: #c3cbd3; --left: #98a2ad; --on: #ffffff; --stripe: #ffffff88;
      color-scheme: light;
    }
    @media screen and (prefers-color-scheme: dark) {
      :root {
        --ground: #14181c; --panel: #1c2126; --ink: #e7eaed; --soft: #9da7b1; --line: #2f363d;
        --succeeded: #58b88c; --failed: #ee7a6e; --unseen: #dcab52; --neutral: #b49be0;
        --running: #74afea; --waiting: #46505a; --left: #69747f; --on: #10141a;
        --stripe: #10141a77; color-scheme: dark;
      }
    }
    * { box-sizing: border-box; }
    html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
    body {
      margin: 0 auto; max-width: 70rem; padding: 2.5rem 1.5rem 3rem; background: var(--ground);
      color: var(--ink); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans",
        sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
    }
    h1, h2, h3, p, ul, ol, dl { margin: 0; }
    ul, ol { padding: 0; list-style: none; }
    .patterns { position: absolute; }
    .kicker { color: var(--soft); font-size: .95rem; }
    h1 {
      margin: .35rem 0 .9rem; max-width: 46rem; font-size: clamp(1.5rem, 1.1rem + 2vw, 2.3rem);
      font-weight: 650; line-height: 1.18; letter-spacing: -.015em; text-wrap: balance;
    }
    h2 { margin-bottom: .9rem; font-size: 1.2rem; font-weight: 650; letter-spacing: -.005em; }
    h3 { font-size: 1rem; font-weight: 600; }
    section { margin-top: 2.8rem; }
    section > h3 { margin: 1.4rem 0 .4rem; }
    .small, .summary, footer, caption { color: var(--soft); font-size: .875rem; }
    .plain li { margin: .2rem 0; padding-left: 1rem; text-indent: -1rem; font-size: .925rem; }
    .plain li::before { content: "– "; color: var(--soft); }

    .state { margin-bottom: 1.4rem; }
    .badge {
      display: inline-block; margin-right: .6rem; padding: .1rem .65rem; border-radius: 1rem;
      border: 1.5px solid currentColor; font-weight: 600; font-size: .925rem;
    }
    .badge > span, .verdict > span { margin-right: .35rem; }
    .when { color: var(--soft); }
    .bar { display: block; border-radius: 3px; background: var(--panel); }
    .tall { border-radius: 5px; }
    .legend { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; margin-top: .7rem; }
    .legend li { font-size: .925rem; }
    .legend b { font-weight: 650; }
    .key {
      display: inline-block; width: 1.15em; height: 1.15em; margin-right: .45em;
      border-radius: 3px; color: var(--on); font: 700 .8em/1.2em system-ui, "DejaVu Sans",
        sans-serif; text-align: center; vertical-align: .08em;
    }

    .succeeded { fill: var(--succeeded); } .key.succeeded { background: var(--succeeded); }
    .failed { fill: var(--failed); } .key.failed { background: var(--failed); }
    .unseen { fill: var(--unseen); } .key.unseen { background: var(--unseen); }
    .neutral { fill: var(--neutral); } .key.neutral { background: var(--neutral); }
    .running { fill: var(--running); } .key.running { background: var(--running); }
    .waiting { fill: var(--waiting); } .key.waiting { background: var(--waiting); }
    .leftOut { fill: var(--left); } .key.leftOut { background: var(--left); }
    .stripe { fill: var(--stripe); }
    .bar .failed, .chart rect.failed { fill: url(#hatch); }
    .bar .unseen { fill: url(#dots); }
    .good { color: var(--succeeded); } .bad { color: var(--failed); }
    .open { color: var(--running); } .wait { color: var(--unseen); } .off { color: var(--soft); }

    .facts {
      display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem 2rem;
    }
    .options { margin-top: 1rem; } .options summary { cursor: pointer; }
    .options .facts { margin-top: .8rem; }
    dt { color: var(--soft); font-size: .875rem; }
    dd { margin: 0; }

    .waves { display: grid; gap: 1.5rem; }
    .wave {
      display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; margin-bottom: .35rem;
    }
    .verdict { font-weight: 600; font-size: .925rem; }
    .summary { margin: .35rem 0 0; color: var(--ink); }

    .causes {
      display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr));
      gap: 1rem;
    }
    .causes li {
      padding: .9rem 1.1rem 1rem; border: 1px solid var(--line);
      border-left: 4px solid var(--failed);
      border-radius: 5px; background: var(--panel);
    }
    .causes li.link { border-left-color: var(--unseen); }
    .causes li.infrastructure { border-left-color: var(--neutral); }
    .causes .number { margin-bottom: .45rem; color: var(--soft); font-size: .925rem; }
    .names { margin-top: .55rem; }
    .names > * + *::before { content: ", "; }

    .scroll { overflow-x: auto; margin: .6rem -.25rem 0; padding: 0 .25rem .25rem; }
    .scroll:focus-visible { outline: 2px solid var(--running); outline-offset: 2px; }
    .chart { display: block; width: 100%; min-width: 44rem; height: auto; font-size: 12px; }
    .chart text { fill: var(--ink); }
    .chart .lane { fill: var(--panel); }
    .chart .grid { stroke: var(--line); stroke-width: 1; }
    .chart .tick { fill: var(--soft); font-size: 11.5px; text-anchor: middle; }
    .chart .start { text-anchor: start; }
    .chart .end { text-anchor: end; }
    .chart .strong { fill: var(--ink); }
    .chart .laneName { font-weight: 600; }
    .chart .on { fill: var(--on); font-size: 11px; pointer-events: none; }
    .failed + .on { paint-order: stroke; stroke: var(--failed); stroke-width: 3px; }
    .chart .gap { fill: var(--line); opacity: .55; }
    .chart .load { fill: var(--succeeded); opacity: .85; }
    .chart .mark { fill: var(--failed); }
    .chart .rate { fill: var(--running); opacity: .8; }
    .chart .limit { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 6 4; }

    .onPaper { display: none; }
    .controls { display: flex; flex-wrap: wrap; gap: .6rem 1.2rem; align-items: center; }
    .controls[hidden] { display: none; }
    .controls label { color: var(--soft); font-size: .925rem; }
    input, select {
      margin-left: .35rem; padding: .3rem .55rem; border: 1px solid var(--line); border-radius: 5px;
      background: var(--panel); color: var(--ink); font: inherit; font-size: .925rem;
      max-width: 12rem;
    }
    output { color: var(--soft); font-size: .925rem; }
    table { width: 100%; border-collapse: collapse; font-size: .875rem; overflow-wrap: normal; }
    caption { padding-bottom: .5rem; text-align: left; }
    th, td { padding: .38rem .9rem .38rem 0; text-align: left; vertical-align: top; }
    tbody tr { border-top: 1px solid var(--line); }
    thead th { color: var(--soft); font-weight: 600; white-space: nowrap; vertical-align: bottom; }
    tbody th { font-weight: 500; min-width: 9rem; max-width: 18rem; overflow-wrap: anywhere; }
    tbody td { max-width: 16rem; overflow-wrap: anywhere; }
    .k { min-width: 6rem; }
    .n { white-space: nowrap; }
    td small, th small { display: block; color: var(--soft); font-size: .8rem; font-weight: 400; }
    th:last-child, td:last-child { padding-right: 0; }
    .r { text-align: right; white-space: nowrap; }
    td i { font-style: normal; }
    thead button {
      padding: 0; border: 0; background: none; color: inherit; font: inherit; cursor: pointer;
    }
    thead button:hover { color: var(--ink); }
    [aria-sort] button { color: var(--ink); }
    [aria-sort=ascending] button::after { content: " ↑"; }
    [aria-sort=descending] button::after { content: " ↓"; }
    .pager { display: flex; flex-wrap: wrap; gap: .8rem; align-items: center; margin-top: .7rem; }
    .pager[hidden] { display: none; }
    .pager span { color: var(--soft); font-size: .925rem; }
    .pager button {
      padding: .3rem .8rem; border: 1px solid var(--line); border-radius: 5px;
      background: var(--panel); color: var(--ink); font: inherit; font-size: .925rem;
      cursor: pointer;
    }
    .pager button:disabled { color: var(--left); cursor: default; }
    /* Hides all rows but the first page until the script runs, so that the browser does not lay out
       thousands of rows. Without scripts all rows are visible. */
    @media screen and (scripting: enabled) {
      table:not(.paged) tbody tr:nth-child(n+201) { display: none; }
    }
    summary { cursor: pointer; }
    details ol { min-width: 13rem; color: var(--soft); text-align: left; white-space: normal; }

    code { font: .9em/1.4 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
    code.hash {
      display: inline-block; padding: .35rem .6rem; border-radius: 5px; background: var(--panel);
    }
    #proof ~ p + p { margin-top: .5rem; }
    footer { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); }

    @media (max-width: 40rem) {
      body { padding: 1.4rem 1rem 2rem; }
      section { margin-top: 2.2rem; }
      .facts { grid-template-columns: repeat(auto-fill, minmax(min(100%, 9rem), 1fr)); }
      .badge { white-space: normal; }
    }
    @page { margin: 14mm 13mm; }
    @media print {
      body { max-width: none; padding: 0; font-size: 10pt; print-color-adjust: exact;
        -webkit-print-color-adjust: exact; }
      section { margin-top: 1.6rem; }
      h1 { font-size: 20pt; }
      h2, h3, .wave, caption, thead { break-after: avoid; }
      .waves li, .causes li, .chart, tr { break-inside: avoid; }
      .scroll { overflow: visible; margin: .4rem 0 0; padding: 0; }
      .chart { min-width: 0; }
      .controls, .pager, .large tbody tr:not(.paper) { display: none; }
      .onPaper { display: block; margin-bottom: .4rem; font-size: 9pt; }
      table { font-size: 8pt; }
      th, td { padding: .22rem .6rem .22rem 0; }
      /* Wide enough for an address (17 characters) on one line, below the name. */
      tbody th { min-width: 10.5em; }
      td.k { min-width: 5.4em; }
      td small, th small { font-size: 7.5pt; }
      summary { list-style: none; }
      thead button::after { content: "" !important; }
    }

    """#
}
#endif
