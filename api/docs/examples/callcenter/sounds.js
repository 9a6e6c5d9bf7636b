import { readFile, writeFile } from "node:fs/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;

async function send(method, path, body) {
  const headers = { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "audio/wav" };
  const answer = await fetch(`${PARLEY_URL}/v1/sounds${path}`, { method, headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const added = await send("POST", "?name=Waltz", await readFile("speech.wav"));
const { id } = await added.json(); // name it in settings.hold_sound of an agent
for (const sound of (await (await send("GET", "")).json()).data) console.log(sound.name, sound.duration_ms, "ms");

const wav = new Uint8Array(await (await send("GET", `/${id}/audio`)).arrayBuffer());
await writeFile("waltz.wav", wav);
console.log(`waltz.wav: ${wav.length} bytes`);

await send("DELETE", `/${id}`);
console.log("removed");
