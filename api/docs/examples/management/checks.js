const { PARLEY_URL, OPERATOR_KEY } = process.env;

const answer = await fetch(PARLEY_URL + "/v1/operator/checks", {
  headers: { Authorization: `Bearer ${OPERATOR_KEY}` },
});
if (!answer.ok) throw new Error(await answer.text());
for (const { name, status, detail, fix } of (await answer.json()).data) {
  console.log(status, name, detail, fix);
}
