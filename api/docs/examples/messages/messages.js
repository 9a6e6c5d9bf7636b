const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body, headers = {}) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json", ...headers },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? undefined : answer.json();
}

// A number that was bought here; messages come from no other.
const offers = await ask("GET", "/callcenter/numbers/search?country_code=DE");
const from = offers.numbers.map((o) => o.phone_number).find((n) => /[0-3]$/.test(n));
const bought = await ask("POST", "/callcenter/numbers", { phone_number: from });

// The key makes it safe to send it again after a lost answer.
const order = { from, to: "+1 202 555 0177", text: "Your table is booked for Friday at 8 pm." };
let message = await ask("POST", "/v1/messages", order, { "Idempotency-Key": crypto.randomUUID() });
console.log(message.status, message.segments, "segment");

while (message.status === "queued") {
  await new Promise((done) => setTimeout(done, 1000)); // a webhook for message.delivered and message.failed saves asking
  message = await ask("GET", `/v1/messages/${message.id}`);
}
console.log(message.status, message.cost);
const { data } = await ask("GET", "/v1/messages?direction=outbound&peer=12025550177&limit=10");
for (const m of data) console.log(m.created_at, m.to, m.text);

await ask("DELETE", `/v1/messages/${message.id}`);
console.log("deleted");
await ask("DELETE", `/callcenter/numbers/${bought.id}`);
