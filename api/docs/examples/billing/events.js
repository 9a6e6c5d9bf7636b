const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/v1/events?limit=10`, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
if (!answer.ok) throw new Error(await answer.text());
const { data } = await answer.json();
console.log(`${data.length} events`);
for (const event of data) console.log(event.created_at, event.kind, event.message, event.cleared_at ? "(over)" : "");
