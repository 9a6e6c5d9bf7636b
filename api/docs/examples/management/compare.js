const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;

const draft = { name: "Lola", settings: { min_endpoint_ms: 700 } };
const answer = await fetch(`${PARLEY_URL}/v1/agents/${AGENT_ID}/compare`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ calls: 5, definition: draft }),
});
if (!answer.ok) throw new Error(await answer.text());
const { calls } = await answer.json();
for (const call of calls) {
  for (const { then, now } of call.turns) console.log(call.call_id, then?.latency_ms, "→", now?.latency_ms, now?.heard);
}
console.log(`${calls.length} recorded calls, ${calls.filter((c) => c.outcome === "differs").length} would differ`);
