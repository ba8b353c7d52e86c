#if Fleet
/// The template of the page. Values in double braces are escaped; the two texts in triple braces
/// are constants of this target (`PageStyle`, `PageScript`).
enum PageTemplate {
  static let text =
    #"""
    {{% CONTENT_TYPE:OTAFLASH-PAGE}}<!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="{{policy}}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <title>{{campaign}}: {{headline}}</title>
    <style>{{{style}}}</style>
    </head>
    <body>
    <svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false"><defs>
    <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse"
     patternTransform="rotate(45)"><rect width="7" height="7" class="failed"/>
    <rect width="2" height="7" class="stripe"/></pattern>
    <pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse">
    <rect width="6" height="6" class="unseen"/><circle cx="3" cy="3" r="1.2" class="stripe"/>
    </pattern></defs></svg>
    <header>
    <p class="kicker">Fleet update <b><bdi>{{campaign}}</bdi></b>, run {{runID}}</p>
    <h1>{{headline}}</h1>
    <p class="state"><span class="badge {{stateClass}}"><span aria-hidden="true">{{stateSign}}
    </span>{{stateWords}}</span> <span class="when">{{when}}</span></p>
    {{#bar}}
    <svg class="bar tall" width="100%" height="26" role="img" aria-label="{{summary}}">
    <title>{{summary}}</title>
    {{#parts}}
    <rect class="{{class}}" x="{{x}}%" width="{{width}}%" height="26"/>
    {{/parts}}
    </svg>
    <ul class="legend">
    {{#parts}}
    <li><span class="key {{class}}" aria-hidden="true">{{sign}}</span><b>{{count}}</b> {{words}}
    {{/parts}}
    </ul>
    {{/bar}}
    </header>
    <main>
    <section aria-labelledby="facts">
    <h2 id="facts">Overview</h2>
    <dl class="facts">
    {{#facts}}
    <div><dt>{{term}}</dt><dd><bdi>{{text}}</bdi></dd></div>
    {{/facts}}
    </dl>
    {{#hasOptions}}
    <details class="options"><summary>All options of the campaign</summary>
    <dl class="facts">
    {{#options}}
    <div><dt><bdi>{{term}}</bdi></dt><dd><bdi>{{text}}</bdi></dd></div>
    {{/options}}
    </dl></details>
    {{/hasOptions}}
    </section>
    <section aria-labelledby="waves">
    <h2 id="waves">Outcome by wave</h2>
    <ol class="waves">
    {{#waves}}
    <li>
    <div class="wave"><h3><bdi>{{waveName}}</bdi></h3>
    <span class="verdict {{verdictClass}}"><span aria-hidden="true">{{verdictSign}}</span>
    {{verdict}}</span></div>
    {{#waveBar}}
    <svg class="bar" width="100%" height="14" role="img" aria-label="{{summary}}">
    <title>{{summary}}</title>
    {{#parts}}
    <rect class="{{class}}" x="{{x}}%" width="{{width}}%" height="14"/>
    {{/parts}}
    </svg>
    <p class="summary">{{summary}}</p>
    {{/waveBar}}
    <p class="small">{{waveTimes}}{{#rule}}<br>Rule: {{.}}{{/rule}}</p>
    </li>
    {{/waves}}
    </ol>
    {{#hasPauses}}
    <h3>Pauses</h3>
    <ul class="plain">
    {{#pauses}}
    <li>{{.}}</li>
    {{/pauses}}
    </ul>
    {{/hasPauses}}
    {{#hasOperators}}
    <h3>Operator commands</h3>
    <ul class="plain">
    {{#operators}}
    <li><bdi>{{.}}</bdi></li>
    {{/operators}}
    </ul>
    {{/hasOperators}}
    </section>
    <section aria-labelledby="failures">
    <h2 id="failures">Failures by cause</h2>
    {{#hasFailures}}
    <ul class="causes">
    {{#failures}}
    <li class="{{causeClass}}"><h3>{{causeTitle}}</h3>
    <p class="number">{{causeCount}}</p>
    <p>{{remedy}}</p>
    <p class="small names">{{#names}}<bdi>{{.}}</bdi>{{/names}}\#
    {{#more}}<span>{{.}}</span>{{/more}}</p>
    </li>
    {{/failures}}
    </ul>
    {{/hasFailures}}
    {{^hasFailures}}
    <p>{{noFailures}}</p>
    {{/hasFailures}}
    {{#hasOvercome}}
    <h3>Resolved by retries</h3>
    <ul class="plain">
    {{#overcome}}
    <li>{{.}}</li>
    {{/overcome}}
    </ul>
    {{/hasOvercome}}
    </section>
    {{#gantt}}
    <section aria-labelledby="gantt">
    <h2 id="gantt">Devices by adapter</h2>
    <p class="small">{{summary}}{{#others}} {{.}}.{{/others}} Times are in {{zoneName}}.</p>
    <div class="scroll" role="region" aria-label="Chart of devices by adapter" tabindex="0">
    <svg class="chart" viewBox="0 0 {{width}} {{height}}" role="img" aria-labelledby="gt gd">
    <title id="gt">Devices by adapter and time</title><desc id="gd">{{summary}}</desc>
    {{#lanes}}
    <rect class="lane" x="0" y="{{laneY}}" width="1000" height="{{laneHeight}}" rx="3"/>
    {{/lanes}}
    {{#ticks}}
    <line class="grid" x1="{{x}}" x2="{{x}}" y1="{{axisTop}}" y2="{{bottom}}"/>
    <text class="tick" x="{{x}}" y="22">{{label}}</text>
    <text class="tick day" x="{{x}}" y="9">{{date}}</text>
    {{/ticks}}
    {{#breaks}}
    <g><title>{{words}}</title>
    <rect class="gap" x="{{x}}" y="{{axisTop}}" width="{{width}}" height="{{axisHeight}}"/>
    <text class="tick" x="{{middle}}" y="22">⋯</text></g>
    {{/breaks}}
    {{#lanes}}
    <text class="laneName" x="8" y="{{nameY}}">{{name}}</text>
    {{#hasPath}}
    <g><title>{{pathWords}}</title><path class="load" d="{{path}}"/></g>
    {{#marks}}
    <rect class="mark" x="{{markX}}" y="{{markY}}" width="{{markWidth}}" height="{{markHeight}}"/>
    {{/marks}}
    {{/hasPath}}
    {{^hasPath}}
    <text class="tick start" x="8" y="{{countY}}">{{count}}</text>
    {{#bars}}
    <g><title>{{hint}}</title><rect class="{{class}}" x="{{x}}" y="{{y}}" width="{{width}}"\#
     height="{{height}}" rx="2"/><text class="on" x="{{labelX}}" y="{{labelY}}">{{label}}</text></g>
    {{/bars}}
    {{/hasPath}}
    {{/lanes}}
    </svg></div>
    <ul class="legend">
    {{#isDetailed}}
    <li><span class="key succeeded" aria-hidden="true">✓</span>updated</li>
    <li><span class="key failed" aria-hidden="true">✕</span>failed attempt (hatched)</li>
    <li><span class="key leftOut" aria-hidden="true">–</span>not completed</li>
    {{#hasOpen}}
    <li><span class="key running" aria-hidden="true">▸</span>in progress</li>
    {{/hasOpen}}
    {{/isDetailed}}
    {{^isDetailed}}
    <li><span class="key succeeded" aria-hidden="true">▟</span>concurrent devices</li>
    <li><span class="key failed" aria-hidden="true">✕</span>failed attempts (below the line)</li>
    {{/isDetailed}}
    </ul>
    </section>
    {{/gantt}}
    {{#throughput}}
    <section aria-labelledby="throughput">
    <h2 id="throughput">Throughput</h2>
    <p class="small">{{summary}}</p>
    <div class="scroll" role="region" aria-label="Chart of throughput" tabindex="0">
    <svg class="chart" viewBox="0 0 {{width}} {{height}}" role="img" aria-labelledby="tt td">
    <title id="tt">Throughput of all links over time</title><desc id="td">{{summary}}</desc>
    {{#levels}}
    <line class="grid" x1="{{left}}" x2="{{width}}" y1="{{levelY}}" y2="{{levelY}}"/>
    <text class="tick end" x="84" y="{{textY}}">{{level}}</text>
    {{/levels}}
    {{#ticks}}
    <text class="tick" x="{{x}}" y="22">{{label}}</text>
    <text class="tick day" x="{{x}}" y="9">{{date}}</text>
    {{/ticks}}
    {{#breaks}}
    <g><title>{{words}}</title>
    <rect class="gap" x="{{x}}" y="{{axisTop}}" width="{{width}}" height="{{axisHeight}}"/>
    <text class="tick" x="{{middle}}" y="22">⋯</text></g>
    {{/breaks}}
    <path class="rate" d="{{path}}"/>
    {{#limitLabel}}
    <line class="limit" x1="{{left}}" x2="1000" y1="{{limitY}}" y2="{{limitY}}"/>
    <text class="tick end strong" x="996" y="{{limitTextY}}">{{limitLabel}}</text>
    {{/limitLabel}}
    </svg></div>
    <p class="small">Estimate: the bytes sent to each updated device, distributed evenly over its\#
     upload.{{#uncounted}} {{.}}{{/uncounted}}</p>
    </section>
    {{/throughput}}
    {{#table}}
    <section aria-labelledby="devices">
    <h2 id="devices">Devices</h2>
    <form id="controls" class="controls" hidden>
    <label>Find <input id="find" type="search" autocomplete="off" placeholder="any word"></label>
    <label>Outcome <select id="outcome"><option value="">all</option>
    {{#outcomes}}
    <option value="{{value}}">{{words}}</option>
    {{/outcomes}}
    </select></label>
    <output id="shown">{{count}}</output>
    </form>
    <div class="scroll" role="region" aria-label="Table of devices" tabindex="0">
    {{#isLarge}}
    <p class="onPaper">This table lists {{onPaper}} devices that did not succeed; the page on\#
     screen lists all devices.</p>
    {{/isLarge}}
    {{#isLarge}}
    <noscript id="long">
    {{/isLarge}}
    <table id="table"{{#isLarge}} class="large"{{/isLarge}}>
    <caption>Results of {{count}}; times in {{zoneName}}</caption>
    <thead><tr><th scope="col">Device{{#hasBoards}}<th scope="col">Board{{/hasBoards}}\#
    {{#hasSites}}<th scope="col">Site{{/hasSites}}{{#hasWaves}}<th scope="col">Wave{{/hasWaves}}\#
    <th scope="col">Outcome<th scope="col">Version, verified by<th scope="col">Adapter\#
    <th scope="col" class="r">Attempts<th scope="col" class="r">Rate\#
    <th scope="col" class="r">Duration<th scope="col" class="r">Ended</tr></thead>
    <tbody>
    {{#rows}}
    <tr class="{{class}}{{paper}}"><th scope=row><bdi>{{name}}</bdi>\#
    {{#deviceID}}<small><bdi>{{.}}</bdi></small>{{/deviceID}}\#
    {{#board}}<td class=k><bdi>{{text}}</bdi>{{/board}}\#
    {{#site}}<td class=k><bdi>{{text}}</bdi>{{/site}}\#
    {{#wave}}<td class=k><bdi>{{text}}</bdi>{{/wave}}\#
    <td><i class="key {{class}}">{{sign}}</i>{{outcome}}{{#cause}}<small>{{.}}</small>{{/cause}}\#
    <td class=n>{{versions}}{{#grade}}<small>{{.}}</small>{{/grade}}\#
    <td class=n><bdi>{{adapter}}</bdi>\#
    {{#tries}}{{#one}}<td class=r>{{.}}{{/one}}{{#several}}<td class=r><details><summary>\#
    {{number}}</summary><ol>{{#tries}}<li>{{try}}{{/tries}}</ol></details>{{/several}}{{/tries}}\#
    <td class=r data-v="{{rateValue}}">{{rate}}<td class=r data-v="{{tookValue}}">{{took}}\#
    <td class=r data-v="{{endedValue}}">{{ended}}
    {{/rows}}
    </tbody>
    </table>
    {{#isLarge}}
    </noscript>
    {{/isLarge}}
    </div>
    </section>
    {{/table}}
    <section aria-labelledby="proof">
    <h2 id="proof">Evidence</h2>
    <p>This report is computed from {{eventCount}}, each recorded when it occurred.\#
    {{#chain}} Each event contains the SHA-256 hash of the event before it. The last hash:</p>
    <p><code class="hash">{{head}}</code></p>
    <p>This command verifies that the store contains these {{chainCount}} events\#
     unchanged{{/chain}}{{#verification}}: <code>{{.}}</code>{{/verification}}</p>
    </section>
    </main>
    <footer><p>Created by {{program}} on {{written}}.</p></footer>
    <script>{{{script}}}</script>
    </body>
    </html>

    """#
}
#endif
