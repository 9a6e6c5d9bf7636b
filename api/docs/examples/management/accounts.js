const { PARLEY_URL, OPERATOR_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${OPERATOR_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? undefined : answer.json();
}

// The answer holds a key of the account, this once: it is whose the account is.
const { id, api_key } = await ask("POST", "/v1/operator/accounts", { name: "Casa Lola", create_key: true });
console.log(id, api_key);

const { data } = await ask("GET", "/v1/operator/accounts?limit=5");
console.log(data.map((account) => `${account.name} ${account.balance}`).join("\n"));

const one = `/v1/operator/accounts/${id}`;
const limited = await ask("PATCH", one, { suspended: true, concurrency: 20 });
console.log(`suspended: ${limited.suspended}`);
await ask("POST", `${one}/resolve-disputes`);
await ask("PATCH", one, { suspended: false });
console.log(`suspended: ${(await ask("GET", one)).suspended}`);
