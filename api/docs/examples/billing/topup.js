const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const topup = await ask("POST", "/v1/topups", { amount: 25 });
console.log(`Pay at ${topup.url}`);
const { state } = await ask("GET", `/v1/topups/${topup.id}`); // succeeded once it is paid
console.log(topup.id, state);
const { data } = await ask("GET", "/v1/topups?limit=5");
for (const one of data) console.log(one.created_at, one.amount, one.state);
