const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

// The answer holds the key itself, this once.
const created = await (await ask("POST", "/v1/keys", { name: "website" })).json();
const { data } = await (await ask("GET", "/v1/keys")).json();
console.log(data.map((key) => `${key.id} ${key.name}`).join("\n"));
await ask("DELETE", `/v1/keys/${created.id}`);
console.log(`${created.id} revoked`);
