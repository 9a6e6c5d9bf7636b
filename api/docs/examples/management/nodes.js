const { PARLEY_URL, OPERATOR_KEY } = process.env;

const answer = await fetch(PARLEY_URL + "/v1/operator/nodes", {
  headers: { Authorization: `Bearer ${OPERATOR_KEY}` },
});
if (!answer.ok) throw new Error(await answer.text());
for (const { name, state, address, calls } of (await answer.json()).data) {
  console.log(name, state, "at", address, "has", calls, "calls");
}
