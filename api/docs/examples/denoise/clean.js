import { readFile, writeFile } from "node:fs/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/denoise`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "audio/wav" },
  body: await readFile("speech.wav"),
});
if (!answer.ok) throw new Error(await answer.text());
const wav = new Uint8Array(await answer.arrayBuffer());
await writeFile("clean.wav", wav);
console.log(`clean.wav: ${wav.length} bytes, ${answer.headers.get("X-Audio-Duration-Seconds")} seconds charged`);
