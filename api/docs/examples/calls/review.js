const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(path, method = "GET") {
  const answer = await fetch(PARLEY_URL + path, { method, headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const { data, total } = await (await ask("/v1/latency?group_by=day")).json();
for (const day of data) console.log(day.key, day.turns, "answers,", day.total_ms.p50, "to", day.total_ms.p90, "ms");
console.log(total?.turns ?? 0, "answers of all days");

const engines = (await (await ask("/v1/latency/engines")).json()).data;
for (const e of engines) console.log(e.stage, e.engine, e.p50_ms, "to", e.p95_ms, "ms");
console.log(engines.length, "engines waited for");

console.log(await (await ask("/v1/calls.csv?state=ended")).text());

const live = (await (await ask("/v1/calls?state=live&direction=outbound")).json()).data;
for (const call of live) await ask(`/v1/calls/${call.id}/hangup`, "POST");
console.log(live.length, "calls hung up");
