// Starts the explorer on this server's own document.

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#explorer",
  validatorUrl: null, // nothing is asked of other servers
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
});
