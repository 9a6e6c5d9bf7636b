const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + "/v1/engine-keys" + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

await ask("PUT", "/haiku", { key: "the-key-of-anthropic-2a71" });
const { data } = await (await ask("GET", "")).json();
for (const { engine, last4 } of data) console.log(engine, "…" + last4); // the key is never shown
const test = await (await ask("POST", "/haiku/test")).json();
console.log(test.ok ? `it works: ${test.took_ms} ms` : test.error.code);

await ask("DELETE", "/haiku");
console.log("removed");
