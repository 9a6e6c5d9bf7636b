const { PARLEY_URL, OPERATOR_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + "/v1/operator/users" + path, {
    method,
    headers: { Authorization: `Bearer ${OPERATOR_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const users = (await ask("GET", "?limit=100")).data;
console.log(`users: ${users.length}`);
for (const { id } of users.filter((u) => u.email === "gone@example.com")) {
  await ask("PATCH", `/${id}`, { disabled: true });
  console.log((await ask("DELETE", `/${id}?keys=revoke`)).keys);
}
