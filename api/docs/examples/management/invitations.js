const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? undefined : answer.json();
}

const email = `guest-${Date.now()}-${process.pid}@example.com`;
const invitation = await ask("POST", "/v1/invitations", { email, role: "member" });
console.log(invitation.url); // this once: send it to them

const { data } = await ask("GET", "/v1/invitations");
console.log(data.map((i) => `${i.email} until ${i.expires_at}`).join("\n"));
await ask("DELETE", `/v1/invitations/${invitation.id}`);
console.log(`${invitation.id} taken back`);
