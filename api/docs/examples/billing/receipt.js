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

// Something that costs.
await (await ask("POST", "/tts/synthesize", { text: "This costs me.", voice: "F1", language: "en" })).arrayBuffer();

const { data } = await (await ask("GET", "/v1/ledger?kind=usage&limit=100")).json();
const entry = data.find((e) => e.component === "tts");
console.log(`${entry.at} ${entry.amount} USD, then there were ${entry.balance_after} USD`);
const receipt = await (await ask("GET", `/v1/calls/${entry.session_id}/receipt`)).json();
for (const l of receipt.lines) console.log(`${l.component}: ${l.quantity} ${l.unit}s, ${l.amount} USD`);
console.log(`total ${receipt.total} USD by rate card ${receipt.price_version}`);
