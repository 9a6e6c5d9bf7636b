const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

const { numbers } = await ask("GET", "/callcenter/numbers");
const assign = `/callcenter/numbers/${numbers[0].id}/assign`;
const { id } = await ask("POST", "/v1/webhooks", { url: "https://bookings.example/incoming", events: ["call.incoming"] });

// From now on it answers such as {"agent_id": "ag_…", "variables": {"name": "Ann"}} while it rings.
console.log((await ask("POST", assign, { webhook_id: id })).webhook_id);

await ask("POST", assign, { webhook_id: "" }); // it is not asked any more
await ask("DELETE", `/v1/webhooks/${id}`);
console.log("removed");
