const { PARLEY_URL, PARLEY_API_KEY } = process.env; // a key with the mark listen
const headers = { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" };

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

const receiver = { url: "wss://example.com/calls", headers: { Authorization: "Bearer {{secret.RECEIVER}}" } };
const { data } = await ask("GET", "/v1/calls?state=live&number=%2B34600111222");
for (const call of data) {
  const stream = await ask("POST", `/v1/calls/${call.id}/streams`, receiver);
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  await ask("DELETE", `/v1/calls/${call.id}/streams/${stream.id}`);
}
console.log(`${data.length} streams`);
