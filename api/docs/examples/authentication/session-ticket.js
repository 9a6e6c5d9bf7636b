const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;

const answer = await fetch(`${PARLEY_URL}/v1/session-tickets`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ agent_id: AGENT_ID, ttl_seconds: 120, max_sessions: 1, max_duration_seconds: 300 }),
});
if (!answer.ok) throw new Error(await answer.text());
const { ticket } = await answer.json();
console.log(`${ticket} opens one conversation with ${AGENT_ID}`);
