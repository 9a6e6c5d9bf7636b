const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const orderStatus = {
  type: "http",
  name: "order_status",
  description: "Returns the status of an order.",
  parameters: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  http: { method: "GET", url: "https://api.example.com/orders/{order}", timeout_ms: 2000 },
};
const answer = await fetch(`${PARLEY_URL}/v1/functions/test`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ tools: [orderStatus], name: "order_status", arguments: { order: "42" } }),
});
if (!answer.ok) throw new Error(await answer.text());
const { outcome, result, took_ms } = await answer.json();
console.log(`${outcome} after ${took_ms} ms: ${result}`); // the result is what the model would read
