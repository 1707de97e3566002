// The portal works without this script; with it, secrets and commands can be
// copied by a button, and a page that waits for something looks by itself.
"use strict";

function addCopyButtons() {
  for (const box of document.querySelectorAll(".copy")) {
    const source = box.querySelector("[data-copy]");
    if (!source || !navigator.clipboard || box.querySelector("button")) continue;
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

// What the server said last of each part that may change.
const said = new Map();
const parts = (page) => [...page.querySelectorAll("[data-live]")];

// A page says with data-refresh, in seconds, that it waits for something. Only
// its parts with data-live are renewed, and only when they changed: what
// somebody types elsewhere stays, and so does the focus.
function refreshWhileWaiting() {
  const waiting = document.querySelector("[data-refresh]");
  if (!waiting) return;
  setTimeout(async () => {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.redirected) {
        location.assign(answer.url); // the session has ended
        return;
      }
      if (answer.ok) renew(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // The server is away for a moment; the next look may find it.
    }
    refreshWhileWaiting();
  }, Number(waiting.dataset.refresh) * 1000);
}

function renew(page) {
  const fresh = new Map(parts(page).map((part) => [part.dataset.live, part]));
  for (const part of parts(document)) {
    const name = part.dataset.live;
    const now = fresh.get(name);
    if (!now || said.get(name) === now.outerHTML) continue;
    said.set(name, now.outerHTML);
    const focus = part.contains(document.activeElement) ? document.activeElement.getAttribute("href") || "" : null;
    part.replaceWith(now);
    if (focus !== null) (focus && now.querySelector(`a[href="${CSS.escape(focus)}"]`) || now).focus();
  }
  addCopyButtons();
}

// On a phone the navigation is a line to be pushed along.
document.querySelector(".side [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
for (const part of parts(document)) said.set(part.dataset.live, part.outerHTML);
addCopyButtons();
refreshWhileWaiting();
