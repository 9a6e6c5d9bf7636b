// What a page of any site loads: it puts a button on that page from which visitors talk to
// an agent of this server. It is a classic script, so that each tag runs and knows itself.
(() => {
  // As a module it is run once, and does not know its tag: then all that nobody took are meant.
  const mine = (tag) => tag.src.split(/[?#]/)[0].endsWith("/widget.js") && !tag.dataset.taken;
  const tags = document.currentScript ? [document.currentScript] : [...document.querySelectorAll("script[data-ticket-url]")].filter(mine);
  for (const tag of tags) {
    tag.dataset.taken = "true";
    import(new URL("MODULE", tag.src)).then(({ mount }) => mount(tag));
  }
})();
