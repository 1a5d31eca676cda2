/// How pages look: light and dark as the system is, one column, on paper whole.
enum PageStyle {
  static let sheet: StaticString = """
    :root { color-scheme: light dark; --ink: #1c2024; --quiet: #5a6270; --paper: #ffffff; --line: #d5d9e0;
      --raised: #f4f6f9; --bar: #2463b4; --bad: #a4161a; --good: #1d6b3a; --focus: #b35c00; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e7e9ee; --quiet: #a4acb9; --paper: #15181c; --line: #39404b;
      --raised: #20252c; --bar: #7fb2f0; --bad: #ff9a94; --good: #86d3a0; --focus: #ffb454; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; padding: 1rem; max-width: 72rem; color: var(--ink); background: var(--paper);
      font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
    h1, h2, h3, h4 { line-height: 1.25; margin: 1.5rem 0 .5rem; }
    h1 { margin-top: 0; } h2 { border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
    h3 { font-size: 1.05rem; } h4 { font-size: 1rem; margin-top: 0; }
    p { margin: .5rem 0; }
    code, pre { font-family: ui-monospace, monospace; font-size: .875rem; }
    a { color: var(--bar); }
    :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
    .skip { position: absolute; left: -100vw; } .skip:focus { position: static; }
    .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; margin: 1rem 0; }
    .quiet, figcaption, footer { color: var(--quiet); } .bad, .warning { color: var(--bad); } .good { color:
      var(--good); }
    .lag { color: var(--bad); font-weight: 600; }
    .needs { padding-left: 1.25rem; } .needs li { margin: .25rem 0; }
    .wide { overflow-x: auto; margin: .75rem 0; }
    table { border-collapse: collapse; width: 100%; overflow-wrap: normal; }
    caption { text-align: left; color: var(--quiet); padding-bottom: .25rem; }
    th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid
      var(--line); }
    thead th { font-size: .875rem; } tbody th { font-weight: 500; }
    .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .value { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 16rem; overflow: auto; margin: 0;
      unicode-bidi: isolate; }
    .conflict { border: 1px solid var(--line); border-radius: .4rem; padding: .75rem 1rem; margin: 1rem 0; }
    .conflict h3 { margin-top: 0; }
    .sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: .75rem; }
    .sides > div { background: var(--raised); border-radius: .4rem; padding: .5rem .75rem; min-width: 0; }
    figure { margin: 1rem 0; }
    .chart { width: 100%; min-width: 36rem; height: auto; display: block; }
    .chart .bar, .chart .area { fill: var(--bar); } .chart .axis { stroke: var(--line); }
    .chart .label { fill: var(--ink); font-size: 13px; } .chart .end { text-anchor: end; }
    button, input { font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--quiet);
      border-radius: .4rem; padding: .3rem .8rem; }
    button:disabled { opacity: .6; }
    .bar { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin-bottom: 1rem; }
    .bar p { flex-basis: 100%; margin: 0; }
    .bar label { display: flex; flex-wrap: wrap; gap: .25rem; align-items: center; }
    .bar input { min-width: 0; max-width: 14rem; width: 100%; }
    dialog { color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: .4rem;
      max-width: min(48rem, 92vw); width: 100%; } dialog h2 { margin-top: 0; } dialog .value { max-height: 50vh; }
    @media print { body { max-width: none; } nav, .skip, .actions, .bar { display: none; } .value { max-height: none; }
      .wide { overflow: visible; } .conflict, figure, tr { break-inside: avoid; }
      details::details-content { content-visibility: visible; display: block; height: auto; } }
    """
}
