const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

// An exchange in Germany sends its calls from 192.0.2.18; extensions 100 to 199 are answered by an agent.
const settings = { name: "office-2", allow: ["192.0.2.18"], country: "DE" };
const trunk = await ask("POST", "/v1/trunks", { ...settings, extensions: [{ match: "1xx", agent_id: AGENT_ID }] });
const at = `/v1/trunks/${trunk.id}`;
console.log((await ask("GET", at)).name, (await ask("GET", "/v1/trunks?limit=10")).data.length);

// One of its numbers, which the agent answers, too.
const number = await ask("POST", `${at}/numbers`, { phone_number: "+4934112345672", agent_id: AGENT_ID });
console.log(number.phone_number, number.monthly_price);

// All settings are replaced: this one identifies itself by a password.
await ask("PUT", at, { ...settings, inbound_username: "office-2", inbound_password: crypto.randomUUID() });
const { status } = await ask("POST", `${at}/check`);
console.log(`${status.calls} calls on it`);

await ask("DELETE", `/callcenter/numbers/${number.id}`);
await ask("DELETE", at);
console.log("removed");
