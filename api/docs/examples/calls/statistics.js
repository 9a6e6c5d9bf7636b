const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/v1/statistics?direction=inbound&group_by=day`, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
if (!answer.ok) throw new Error(await answer.text());
const { total, by_day, stages } = await answer.json();

console.log(`${total.answered} of ${total.calls} calls were answered, ${(total.duration / 60).toFixed(1)} minutes for ${total.cost} USD`);
for (const day of by_day) console.log(day.day, day.calls, day.answer_rate);
for (const s of stages) console.log(s.stage, s.engine, s.p50_ms, "to", s.p95_ms, "ms");
