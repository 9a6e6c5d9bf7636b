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

const address = "http://localhost:3000/parley"; // for people: nothing is sent there
const { id } = await ask("POST", "/v1/webhooks", { url: address, listen: true });
await ask("POST", `/v1/webhooks/${id}/test`);

const { event } = await ask("POST", `/v1/webhooks/${id}/deliveries/take?wait=20`); // undefined: none has come
console.log(event.type);

const begun = Date.now();
const answer = await fetch(address, { method: "POST", headers: event.headers, body: event.body }).catch(() => null);
console.log(answer ? answer.status : "nothing answers there");

const report = { status: 200, latency_ms: Date.now() - begun }; // the answer's; 0 when there was none
const delivery = await ask("POST", `/v1/webhooks/${id}/deliveries/${event.id}/attempts`, report);
console.log(delivery.state);
await ask("DELETE", `/v1/webhooks/${id}`);
console.log("removed");
