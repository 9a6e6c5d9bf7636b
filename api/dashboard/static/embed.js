// The page of the button for other sites puts the button onto itself, as those sites do.
const show = document.querySelector("[data-preview]");

if (show instanceof HTMLButtonElement) {
  show.hidden = false;
  show.addEventListener("click", () => {
    const tag = document.createElement("script");
    const { agentName, ticketUrl } = show.dataset;
    Object.assign(tag.dataset, { agentName, ticketUrl });
    tag.src = "/widget.js";
    document.head.append(tag);
    document.getElementById("preview-said").textContent = "The button is at the bottom right of this page.";
  }, { once: true });
}
