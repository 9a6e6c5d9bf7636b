const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function send(method, path, body, headers = {}) {
  const answer = await fetch(PARLEY_URL + path, { method, headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, ...headers }, body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.status === 204 ? null : answer.json();
}

const ask = (method, path, body) => send(method, path, body && JSON.stringify(body), { "Content-Type": "application/json" });

const { id } = await ask("POST", "/v1/knowledge", { name: "Handbook", language: "en" });
const base = `/v1/knowledge/${id}`;
await ask("PATCH", base, { name: "Bicycle shop" });

const form = new FormData();
form.append("file", new Blob(["# Opening hours\n\nWe open at nine and close at noon on Saturdays.\n"]), "hours.md");
let file = await send("POST", `${base}/documents`, form);
while (["queued", "reading"].includes(file.state)) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  file = await ask("GET", `${base}/documents/${file.id}`);
}
console.log(file.title, file.state, file.reason ?? "");

const page = await ask("POST", `${base}/documents`, { url: "https://example.com/", title: "Example" });
await ask("POST", `${base}/documents/${page.id}/refresh`); // fetches it again
for (const d of (await ask("GET", `${base}/documents`)).data) console.log(d.title, d.state);

const found = await ask("POST", `${base}/search`, { query: "closing time on Saturday" });
for (const p of found.passages) console.log(`${p.title}, ${p.heading}: ${p.text}`);
console.log((await ask("GET", base)).passages, "passages"); // name it in settings.knowledge_bases of an agent

await ask("DELETE", `${base}/documents/${page.id}`);
await ask("DELETE", base);
console.log((await ask("GET", "/v1/knowledge")).data.length, "left; removed");
