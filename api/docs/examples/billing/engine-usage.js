const { PARLEY_URL, PARLEY_API_KEY, OPERATOR_KEY } = process.env;

async function used(path, key) {
  const answer = await fetch(PARLEY_URL + path, { headers: { Authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()).data;
}

// Of your account, in calls and in everything else.
for (const u of await used("/v1/usage/engines?from=2026-03-01", PARLEY_API_KEY)) {
  console.log(u.engine, u.quantity, u.unit, "on the key of the", u.key_owner);
}

// Of all accounts, with what the vendors charge: for operators.
const data = await used("/v1/operator/usage/engines?from=2026-03-01", OPERATOR_KEY);
for (const u of data) {
  console.log(u.engine, u.quantity, u.unit, "costs", u.cost, "and brings", u.price);
}
console.log(data.length, "lines of data");
