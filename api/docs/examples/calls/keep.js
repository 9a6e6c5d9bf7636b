const { PARLEY_URL, PARLEY_API_KEY } = process.env;
const headers = { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" };

const list = await fetch(`${PARLEY_URL}/v1/calls?q=${encodeURIComponent("refund or money")}`, { headers });
if (!list.ok) throw new Error(await list.text());
const { data } = await list.json();

const kept = { tags: ["refund"], note: "Look at the order.", metadata: { order: "42" } };
for (const call of data) {
  const answer = await fetch(`${PARLEY_URL}/v1/calls/${call.id}`, { method: "PATCH", headers, body: JSON.stringify(kept) });
  if (!answer.ok) throw new Error(await answer.text());
}
console.log(`${data.length} calls about refunds`);
