const { PARLEY_URL, PARLEY_API_KEY } = process.env;
const headers = { Authorization: `Bearer ${PARLEY_API_KEY}` };

const number = encodeURIComponent("+34600111222");
const list = await fetch(`${PARLEY_URL}/v1/calls?limit=100&number=${number}`, { headers });
if (!list.ok) throw new Error(await list.text());
const { data } = await list.json();

for (const call of data) {
  const gone = await fetch(`${PARLEY_URL}/v1/calls/${call.id}`, { method: "DELETE", headers });
  if (!gone.ok) throw new Error(await gone.text());
}
console.log(`${data.length} calls forgotten`);
