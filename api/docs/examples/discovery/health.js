for (const path of ["/health", "/status"]) {
  const answer = await fetch(process.env.PARLEY_URL + path);
  console.log(path, await answer.json());
}
