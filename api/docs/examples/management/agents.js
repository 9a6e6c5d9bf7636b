const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function ask(method, path, body, headers = {}) {
  const answer = await fetch(PARLEY_URL + path, {
    method,
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json", ...headers },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const prompt = "We are open from nine to six.";
const created = await ask("POST", "/v1/agents", { name: "Lola", voice: "F1", language: "en", prompt, metadata: { team: "sales" } });
const { id } = await created.json();

// The ETag makes sure that nobody else has changed it in between.
const read = await ask("GET", `/v1/agents/${id}`);
const etag = read.headers.get("ETag");
const changed = await ask("PATCH", `/v1/agents/${id}`, { name: "Lola the Second" }, { "If-Match": etag });
console.log((await changed.json()).name);

const page = await (await ask("GET", "/v1/agents?limit=5&metadata[team]=sales")).json();
console.log(page.data.length, "agents of the team");
await ask("DELETE", `/v1/agents/${id}`);
console.log("deleted");
