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

await ask("PUT", "/v1/secrets/ORDERS_SECRET", { value: "8f0c2a71" });
const { data } = await (await ask("GET", "/v1/secrets")).json();
console.log(data.map((secret) => secret.name).join("\n")); // values are never shown

const orderStatus = {
  type: "http",
  name: "order_status",
  description: "Returns the status of an order.",
  parameters: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  http: {
    method: "GET",
    url: "https://api.example.com/orders/{order}",
    headers: { Authorization: "Bearer {{secret.ORDERS_SECRET}}" },
  },
};
const agent = await (await ask("POST", "/v1/agents", { name: "Orders", tools: [orderStatus] })).json();
console.log(`${agent.id} calls ${agent.tools[0].name}`);

await ask("DELETE", `/v1/agents/${agent.id}`);
await ask("DELETE", "/v1/secrets/ORDERS_SECRET");
console.log("removed");
