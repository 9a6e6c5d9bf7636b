import { writeFile } from "node:fs/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/tts/synthesize`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ text: "Good morning! Your table is ready.", voice: "F1", language: "en" }),
});
if (!answer.ok) throw new Error(await answer.text());
const wav = new Uint8Array(await answer.arrayBuffer());
await writeFile("hello.wav", wav);
console.log(`hello.wav: ${wav.length} bytes`);
