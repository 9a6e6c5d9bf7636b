const { PARLEY_URL, PARLEY_API_KEY, AGENT_ID } = process.env;

async function ask(method, path, body, headers) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json", ...headers },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const { enabled, carrier, countries } = await ask("GET", "/callcenter/status");
console.log(enabled, carrier, countries.join(" "));
const { agents } = await ask("GET", "/callcenter/agents");
console.log(agents.map((agent) => agent.name).join(", "));

const { numbers } = await ask("GET", "/callcenter/numbers/search?country_code=DE&page=1");
const { phone_number } = numbers.find((number) => number.monthly_cost <= 5 && number.upfront_cost <= 5);

// It is charged at once. The key makes it safe to send this again after a lost answer.
const key = { "Idempotency-Key": crypto.randomUUID() };
const bought = await ask("POST", "/callcenter/numbers", { phone_number, agent_id: AGENT_ID }, key);
console.log(bought.phone_number, bought.status, bought.agent_name); // pending for a while, with some carriers

// Now another agent, or with an empty agent_id nobody, answers it.
await ask("POST", `/callcenter/numbers/${bought.id}/assign`, { agent_id: "" });
for (const one of (await ask("GET", "/callcenter/numbers")).numbers) {
  console.log(one.phone_number, one.status, one.agent_name, one.next_charge_at);
}

// For good: it cannot be recovered.
const { released } = await ask("DELETE", `/callcenter/numbers/${bought.id}`);
console.log("released", released);
