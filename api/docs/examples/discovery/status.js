const { PARLEY_URL, PARLEY_API_KEY } = process.env;

for (const part of ["health", "voices", "models"]) {
  const answer = await fetch(`${PARLEY_URL}/api/status/${part}`, {
    headers: { Authorization: `Bearer ${PARLEY_API_KEY}` },
  });
  console.log(part, JSON.stringify(await answer.json()));
}
