const { PARLEY_URL, PARLEY_API_KEY } = process.env;
const headers = { Authorization: `Bearer ${PARLEY_API_KEY}` };

async function read(path) {
  const answer = await fetch(PARLEY_URL + path, { headers });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

const { data } = await read("/v1/requests?outcome=refused&limit=5");
for (const { id, status, code } of data) {
  const request = await read(`/v1/requests/${id}`);
  console.log(status, code, request.curl);
}
console.log(`${data.length} requests were refused`);
