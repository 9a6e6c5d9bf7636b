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

const tomorrow = new Date(Date.now() + 24 * 3600 * 1000).toISOString();
const { numbers } = await ask("GET", "/callcenter/numbers");
const request = {
  name: "Reminders",
  from: numbers[0].phone_number,
  agent_id: AGENT_ID,
  consent_confirmed: true, // only when all of them have agreed to be called
  on_machine: "hangup",
  call_window: { start: "09:00", end: "20:00", timezone: "destination" },
  retries: [{ on: "busy", attempts: 3, after_seconds: 900 }],
  metadata: { season: "spring" }, // kept with the calls
  rows: [{ to: "+12025550101" }, { to: "+12025550102", scheduled_at: tomorrow }],
};
const check = await ask("POST", "/callcenter/bulk-dial/check", request); // calls nobody
for (const row of check.rows) console.log(row.to, row.due_at, row.per_minute, row.error?.error);
const key = { "Idempotency-Key": crypto.randomUUID() }; // safe to send again after a lost answer
const batch = await ask("POST", "/callcenter/bulk-dial", request, key);
const at = `/callcenter/bulk-dial/${batch.id}`;
console.log((await ask("POST", `${at}/pause`)).state);
console.log((await ask("POST", `${at}/resume`)).state);
for (const { name, counts } of (await ask("GET", "/callcenter/bulk-dial")).batches) console.log(name, counts);
for (const row of (await ask("GET", at)).rows) console.log(row.to, row.status, row.end_reason, row.cost, row.summary);
console.log((await ask("POST", `${at}/cancel`)).state);
const table = await fetch(`${PARLEY_URL}${at}/results.csv`, { headers: { Authorization: `Bearer ${PARLEY_API_KEY}` } });
console.log(await table.text());
