const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

const prompt = 'When the caller says "when are you open": We are open from nine to six.';
const { id } = await ask("POST", "/v1/agents", { name: "Lola", first_message: "Casa Lola, hello.", prompt });
const cases = `/v1/agents/${id}/cases`;
const made = await ask("POST", cases, { name: "Hours", script: { caller: [{ say: "When are you open?" }] } });
const script = {
  caller: [{ say: "When are you open?", expect: ["nine"] }],
  criteria: [{ name: "closing time", rubric: 'The agent also says when it closes: "to six".' }], // judged by the model
};
await ask("PUT", `${cases}/${made.id}`, { name: "Opening hours", script });
console.log((await ask("GET", `${cases}/${made.id}`)).name, (await ask("GET", cases)).data.length);

async function simulate(body) {
  let s = await ask("POST", `/v1/agents/${id}/simulations`, body);
  while (!s.ended_at) {
    await new Promise((done) => setTimeout(done, 500));
    s = await ask("GET", `/v1/simulations/${s.id}`);
  }
  for (const c of s.cases) for (const r of c.results) for (const check of r.checks) console.log(check.ok, check.expected, check.found ?? "");
  console.log(`${s.state}: ${s.ok}`);
  return s;
}
await simulate({}); // all cases of the agent as it is
const last = await simulate({ cases: [made.id], runs: 2, definition: { name: "Lola", prompt: "We are closed." } }); // and of a draft

await ask("POST", `/v1/simulations/${last.id}/cancel`); // one that has ended stays as it is
console.log((await ask("GET", `/v1/agents/${id}/simulations`)).data.length, "simulations");
await ask("DELETE", `${cases}/${made.id}`);
await ask("DELETE", `/v1/agents/${id}`);
