const { PARLEY_URL, PARLEY_API_KEY } = process.env;
const headers = { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" };

const submitted = await fetch(`${PARLEY_URL}/api/tts/M1/async`, {
  method: "POST",
  headers,
  body: JSON.stringify({ text: "Once upon a time there was a telephone. ".repeat(500), language: "en" }),
});
const { task_id } = await submitted.json();

const answer = await fetch(`${PARLEY_URL}/api/tts/tasks/${task_id}`, { method: "DELETE", headers });
if (!answer.ok) throw new Error(await answer.text());
console.log((await answer.json()).status);
