const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, body) {
  const answer = await fetch(PARLEY_URL + "/callcenter/call-window", {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

// Nobody is called before nine and after eight, by the clocks where they are.
await ask("PUT", { start: "09:00", end: "20:00", timezone: "destination" });
console.log(await (await ask("GET")).json());
await ask("DELETE"); // people are called at any time again
