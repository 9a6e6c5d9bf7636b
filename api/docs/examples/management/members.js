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

const { data } = await ask("GET", "/v1/members");
for (const { user_id, email } of data) {
  if (email.endsWith("@former.example.com")) {
    await ask("DELETE", `/v1/members/${user_id}`); // left
  } else if (email.endsWith("@agency.example.com")) {
    await ask("PATCH", `/v1/members/${user_id}`, { role: "member" }); // helps out, and need not invite people
  }
}
console.log("everybody was looked at");
