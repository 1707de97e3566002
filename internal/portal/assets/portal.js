// The portal works without this script; with it, secrets and commands can be
// copied by a button, and a page that waits for something looks by itself.
"use strict";

function addCopyButtons() {
  for (const box of document.querySelectorAll(".copy")) {
    const source = box.querySelector("[data-copy]");
    if (!source || !navigator.clipboard) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    box.append(button);
  }
}

// A page says with data-refresh, in seconds, that it waits for something.
function refreshWhileWaiting() {
  const waiting = document.querySelector("[data-refresh]");
  if (!waiting) return;
  setTimeout(async () => {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("#main");
      if (answer.ok && fresh) document.querySelector("#main").replaceChildren(...fresh.childNodes);
    } finally {
      addCopyButtons();
      refreshWhileWaiting();
    }
  }, Number(waiting.dataset.refresh) * 1000);
}

addCopyButtons();
refreshWhileWaiting();
