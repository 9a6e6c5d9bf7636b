// What each day cost, as bars on top of each other, drawn with uPlot. The figures are in
// the table below, for those who do not see it.

/** @typedef {{days: string[], names: string[], costs: number[][]}} Chart */

const place = document.getElementById("chart");
const source = document.getElementById("chart-data");
/** @type {Chart} */
const chart = JSON.parse(source?.textContent || '{"days":[],"names":[],"costs":[]}');

/** Bars of one kind stand on those before it: the tallest is drawn first. */
function stacked() {
  const shown = chart.names.map((name, i) => ({ name, i, costs: chart.costs[i] })).filter((s) => s.costs.some((c) => c !== 0));
  const below = chart.days.map(() => 0);
  for (const s of shown) s.costs = s.costs.map((c, day) => (below[day] += c));
  return shown.reverse();
}

/** @param {string} name */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

let drawn = null;

function draw() {
  if (!place || !chart.days.length) return;
  const shown = stacked();
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  drawn?.destroy();
  drawn = new uPlot(
    {
      width: place.clientWidth, height: place.clientHeight, cursor: { show: false }, legend: { show: false },
      scales: { x: { time: true }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
      axes: [axis, { ...axis, size: 64, values: (_, all) => all.map((v) => `$${v < 0.1 && v > 0 ? v.toPrecision(1) : v.toFixed(2)}`) }],
      series: [{}, ...shown.map((s) => ({
        label: s.name, width: 0, fill: colour(`--chart-${s.i + 1}`), points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 40] }),
      }))],
    },
    [chart.days.map((d) => Date.parse(d) / 1000), ...shown.map((s) => s.costs)],
    place,
  );
  const legend = document.getElementById("legend");
  legend?.replaceChildren(...[...shown].reverse().map((s) => {
    const li = document.createElement("li");
    li.className = `c${s.i + 1}`;
    li.textContent = s.name;
    return li;
  }));
}

if (place) {
  draw();
  new ResizeObserver(() => drawn?.setSize({ width: place.clientWidth, height: place.clientHeight })).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
