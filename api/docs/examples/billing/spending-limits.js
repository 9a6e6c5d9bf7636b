const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function limits(method, path, body) {
  const answer = await fetch(PARLEY_URL + "/v1/spending-limits" + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// In place of account stands the identifier of a key or an agent; null takes the limit away.
await limits("PATCH", "/account", { daily_limit: 20 });
for (const { name, spent, daily_limit } of (await limits("GET", "")).data) console.log(name, spent, "of", daily_limit);
