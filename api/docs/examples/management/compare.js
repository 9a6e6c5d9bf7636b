const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;

const draft = { name: "Lola", prompt: "We are open from ten to six.", settings: { min_endpoint_ms: 700 } };
const answer = await fetch(`${PARLEY_URL}/v1/agents/${AGENT_ID}/compare`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ calls: 5, definition: draft }),
});
if (!answer.ok) throw new Error(await answer.text());
const { calls } = await answer.json();
for (const call of calls) {
  for (const { heard, recorded, now } of call.answers) console.log(heard, "|", recorded.text, "→", now.text);
}
console.log(`${calls.length} recorded calls, ${calls.filter((c) => c.outcome === "differs").length} would differ`);
