const { PARLEY_URL, PARLEY_API_KEY } = process.env;

const answer = await fetch(`${PARLEY_URL}/tts/synthesize`, {
  method: "POST",
  headers: { Authorization: `Bearer ${PARLEY_API_KEY}`, "Content-Type": "application/json" },
  body: JSON.stringify({ text: "Hello", voice: "Z9", language: "en" }),
});
if (!answer.ok) {
  const { code, error, retryable } = await answer.json();
  console.log(`${answer.status} ${code}: ${error}`, retryable ? "Try again." : "Change the request.");
}
