const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body, type = "application/json") {
  const answer = await fetch(`${PARLEY_URL}/v1/do-not-call${path}`, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": type },
    body,
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

await ask("POST", "", JSON.stringify({ number: "+34 612 345 673", reason: "wrote to us" }));
const entry = await (await ask("GET", "/+34612345673")).json();
console.log(`${entry.number} is not called: ${entry.reason}`);
const { data } = await (await ask("GET", "?limit=10")).json();
console.log(`${data.length} numbers on this page`);

// A list from elsewhere, and ours as a file.
const { added, known } = await (await ask("POST", ".csv", "number,reason\n+34612345674,asked by mail\n", "text/csv")).json();
console.log(`${added} added, ${known} known`);
console.log(await (await ask("GET", ".csv")).text());

for (const number of ["+34612345673", "+34612345674"]) await ask("DELETE", `/${number}`);
console.log("removed");
