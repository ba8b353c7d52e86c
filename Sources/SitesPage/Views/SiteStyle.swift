#if Sites
/// The style of the page, in addition to the style of the report.
enum SiteStyle {
  static let text =
    #"""

    :root { --wait: #875700; }
    @media screen and (prefers-color-scheme: dark) { :root { --wait: #dcab52; } }
    .site { padding-top: 0; }
    .site .wait { color: var(--wait); }
    .skip { position: absolute; left: -999rem; }
    .skip:focus {
      left: 1rem; top: .5rem; z-index: 1; padding: .4rem .8rem; background: var(--ground);
    }
    .hidden {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
      white-space: nowrap;
    }
    a { color: var(--running); }
    :focus-visible { outline: 2px solid var(--running); outline-offset: 2px; }
    main { padding-top: 1.4rem; }
    main:focus { outline: none; }
    .site section { margin-top: 2.2rem; }
    .top {
      display: flex; flex-wrap: wrap; gap: .4rem 1.6rem; align-items: center;
      padding: .7rem 0; border-bottom: 1px solid var(--line);
    }
    .brand { font-weight: 700; letter-spacing: -.01em; }
    .top ul { display: flex; flex-wrap: wrap; gap: .2rem .3rem; }
    .top nav a {
      display: block; padding: .3rem .55rem; border-radius: 5px; color: var(--ink);
      text-decoration: none;
    }
    .top nav a:hover { background: var(--panel); }
    .top nav [aria-current] { background: var(--panel); font-weight: 600; }
    .user {
      display: flex; flex-wrap: wrap; gap: .3rem .8rem; align-items: center; margin-left: auto;
      font-size: .925rem;
    }
    small { color: var(--soft); }
    button, .button {
      display: inline-block; padding: .35rem .85rem; border: 1px solid var(--line);
      border-radius: 5px; background: var(--panel); color: var(--ink); font: inherit;
      font-size: .925rem; text-decoration: none; cursor: pointer;
    }
    button:hover, .button:hover { border-color: var(--soft); }
    .stack button, .button.approve, .button.resume {
      border-color: var(--running); background: var(--running); color: var(--on);
    }
    .button.cancel, .stack button.cancel {
      border-color: var(--failed); background: var(--ground); color: var(--failed);
    }
    .stack { display: grid; gap: .5rem; max-width: 32rem; margin-top: 1.4rem; }
    .stack label { font-weight: 600; font-size: .925rem; }
    .stack input { width: 100%; max-width: none; margin: 0 0 .5rem; padding: .5rem .65rem; }
    .stack > button { justify-self: start; margin-top: .4rem; padding: .5rem 1.1rem; }
    .choice { display: flex; flex-wrap: wrap; gap: .8rem 1.4rem; align-items: center; }
    .choice button { padding: .5rem 1.1rem; }
    input[type=file] { padding: .4rem; }
    .controls { margin: .4rem 0 1rem; }
    .controls input, .controls select { max-width: 10rem; }
    .effect { padding-left: 1.2rem; list-style: disc; }
    .effect li { margin: .3rem 0; }
    .notice {
      margin: 1rem 0; padding: .7rem 1rem; border: 1px solid var(--unseen);
      border-left-width: 4px; border-radius: 5px; background: var(--panel);
    }
    .stopped { margin-top: .8rem; padding: .5rem .9rem; border: 1px solid var(--failed);
      border-radius: 5px; }
    .stopped[hidden] { display: none; }
    .state { margin: 0 0 .8rem; }
    .waits { margin-top: .4rem; font-weight: 600; font-size: .925rem; }
    .actions { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0 1.4rem; }
    .links { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; margin-top: .5rem; }
    .pages { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; margin-top: .9rem; }
    .off { color: var(--soft); }
    thead a { color: inherit; text-decoration: none; }
    thead a:hover { text-decoration: underline; }
    [aria-sort] a { color: var(--ink); }
    [aria-sort=ascending] a::after { content: " ↑"; }
    [aria-sort=descending] a::after { content: " ↓"; }
    .site table .key { font-size: .7rem; vertical-align: 0; }
    .site progress { width: 6rem; accent-color: var(--running); vertical-align: middle; }
    .site .chart { min-width: 46rem; }
    .scroll { position: relative; }
    .site .scroll table { min-width: 34rem; }
    /* Names with many combining marks must not cover other rows. */
    a > bdi { text-decoration: inherit; }
    .site bdi { display: inline-block; max-width: 100%; overflow: hidden; vertical-align: bottom; }
    .legend { margin-bottom: .7rem; }
    .chart path.succeeded { opacity: .85; }
    .chart path.failed { fill: url(#hatch); }
    .chart path.unseen { fill: url(#dots); }
    .causes h3 + p { margin-top: .2rem; }
    .wave h3 a { color: inherit; }
    @media (max-width: 40rem) {
      .user { margin-left: 0; }
      .controls label {
        flex: 1 1 100%; min-width: 0; display: flex; align-items: center; gap: .5rem;
      }
      .controls input, .controls select { flex: 1; max-width: none; min-width: 0; }
    }
    @media (forced-colors: active) {
      .key, .badge { border: 1px solid; }
    }
    @media print { .top, .actions, .controls, .pages, .stopped { display: none; } }

    """#
}
#endif
