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

const request = { url: "https://bookings.example/parley", events: ["call.ended", "call.transcript"] };
const { id, secret } = await ask("POST", "/v1/webhooks", request); // the secret is shown this once: keep it
const hook = `/v1/webhooks/${id}`;
console.log((await ask("GET", "/v1/webhooks")).data.map((w) => w.id).join("\n"));

await ask("PATCH", hook, { description: "Bookings" });
console.log((await ask("GET", hook)).events.join(" "));

const event = await ask("POST", `${hook}/test`);
for (const d of (await ask("GET", `${hook}/deliveries?limit=5`)).data) console.log(`${d.type}: ${d.state}`);
await ask("POST", `${hook}/deliveries/${event.id}/retry`);

const rotated = await ask("POST", `${hook}/rotate`); // both secrets sign for a day
console.log(rotated.secret !== secret, "until", rotated.old_secret_until);
await ask("DELETE", hook);
console.log("removed");
