import { readFile } from "node:fs/promises";

const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const form = new FormData();
form.append("audio", new Blob([await readFile("speech.wav")]), "speech.wav");
form.append("language", "en");
const answer = await fetch(`${PARLEY_URL}/stt/transcribe`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}` },
  body: form,
});
if (!answer.ok) throw new Error(await answer.text());
console.log((await answer.json()).text);
