const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body, headers = {}) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json", ...headers },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

const schema = await ask("GET", "/v1/agents/schema"); // editors check agents by it
console.log(Object.keys(schema.properties.settings.properties).length, "settings");

const { mistakes } = await ask("POST", "/v1/agents/validate", { name: "Lola", settings: { speed: 9 } }); // nothing is stored
for (const { path, problem } of mistakes) console.log(`${path}: ${problem}`);

const first_message = "Hello {{caller.name}} from {{city}}!";
const { id } = await ask("POST", "/v1/agents", { name: "Lola", first_message, settings: { variables: { city: "Rome" } } });
const changed = await ask("PATCH", `/v1/agents/${id}`, { first_message: "Hello!" });

const versions = await ask("GET", `/v1/agents/${id}/versions`);
console.log(versions.data.length, "versions");
for (const c of (await ask("GET", `/v1/agents/${id}/versions/2/diff`)).changes) console.log(c.path, c.before, c.after);
const first = await ask("GET", `/v1/agents/${id}/versions/1`);
// Refused by 412 when somebody else has changed it in between.
const restored = await ask("PUT", `/v1/agents/${id}`, first, { "If-Match": `"${changed.version}"` });
console.log("restored:", restored.first_message);

await ask("DELETE", `/v1/agents/${id}`);
