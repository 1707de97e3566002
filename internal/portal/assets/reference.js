// The reference is read without this script; with it, an operation can be
// tried against this server. The token is kept for the tab only, the client's
// secret nowhere.
"use strict";

const kept = "anodyne-token";
const telling = ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after", "location", "etag", "link", "idempotency-replayed", "content-type"];
const $ = (id) => document.getElementById(id);

// Addresses of the reference's first form, #/Tag/operation, lead on.
function followOldAddress() {
  const old = /^#\/[^/]+\/(\w+)$/.exec(location.hash);
  if (old) location.replace("/docs/reference/" + old[1]);
}

function showToken(words) {
  const state = $("token-state");
  if (!state) return;
  state.textContent = words || (sessionStorage.getItem(kept) ? "There is a token." : "There is no token yet.");
}

async function getToken() {
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: $("try-client").value.trim(), client_secret: $("try-secret").value });
  showToken("Asking…");
  try {
    const answer = await fetch("/oauth/token", { method: "POST", body: form, credentials: "omit" });
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.error ? body.error.message : answer.status);
    sessionStorage.setItem(kept, body.access_token);
    $("try-secret").value = "";
    $("try-token").value = "";
    showToken("There is a token for an hour, with: " + body.scope);
  } catch (failure) {
    showToken("No token: " + failure.message);
  }
}

// request gathers what the form says.
function request(section) {
  let path = section.dataset.path;
  const query = new URLSearchParams();
  const headers = [];
  for (const field of section.querySelectorAll("[data-in]")) {
    if (field.dataset.in === "path") {
      path = path.replace("{" + field.dataset.name + "}", field.value ? encodeURIComponent(field.value) : "{" + field.dataset.name + "}");
    } else if (field.value && field.dataset.in === "query") {
      query.append(field.dataset.name, field.value);
    } else if (field.value) {
      headers.push([field.dataset.name, field.value]);
    }
  }
  const body = $("try-body") ? $("try-body").value : "";
  if (body) headers.push(["Content-Type", $("try-type").value]);
  return { method: section.dataset.method, path: path + (query.size ? "?" + query : ""), headers, body };
}

const quote = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

function showCurl(section) {
  const r = request(section);
  const lines = ["curl -i " + quote(location.origin + r.path)];
  if (r.method !== "GET") lines.push("-X " + r.method);
  if (section.dataset.auth === "bearer") lines.push('-H "Authorization: Bearer $TOKEN"');
  if (section.dataset.auth === "basic" && $("try-client").value) lines.push('-u "$CLIENT_ID:$CLIENT_SECRET"');
  for (const [name, value] of r.headers) lines.push("-H " + quote(name + ": " + value));
  if (r.body) lines.push("-d " + quote(r.body));
  $("try-curl").textContent = lines.join(" \\\n  ");
}

function authorization(section) {
  if (section.dataset.auth === "bearer") {
    const token = $("try-token").value.trim() || sessionStorage.getItem(kept);
    return token ? "Bearer " + token : "";
  }
  if (section.dataset.auth !== "basic") return "";
  const encode = (text) => new URLSearchParams({ x: text }).toString().slice(2);
  const [client, secret] = [$("try-client").value.trim(), $("try-secret").value];
  return client && secret ? "Basic " + btoa(encode(client) + ":" + encode(secret)) : "";
}

async function send(section) {
  const r = request(section);
  const headers = new Headers();
  $("try-answer").hidden = false;
  $("try-headers").replaceChildren();
  $("try-text").textContent = "";
  $("try-save").replaceChildren();
  $("try-status").textContent = "Sending…";
  try {
    for (const [name, value] of r.headers) headers.set(name, value);
    const proof = authorization(section);
    if (proof) headers.set("Authorization", proof);
    const began = performance.now();
    const answer = await fetch(r.path, { method: r.method, headers, body: r.body || undefined, credentials: "omit", cache: "no-store" });
    const content = await answer.blob();
    const took = Math.round(performance.now() - began);
    for (const name of telling) if (answer.headers.has(name)) addFact(name, answer.headers.get(name));
    await showBody(answer.headers.get("content-type") || "", content);
    $("try-status").textContent = `${answer.status} ${answer.statusText}, ${took} ms, ${content.size} bytes`;
  } catch (failure) {
    $("try-status").textContent = "Nothing came back: " + failure.message;
  }
}

function addFact(name, value) {
  const term = document.createElement("dt");
  const said = document.createElement("dd");
  term.textContent = name;
  said.textContent = value;
  $("try-headers").append(term, said);
}

// showBody writes text as text; anything else is offered as a file.
async function showBody(type, content) {
  const text = /json|yaml|text/.test(type);
  $("try-text").hidden = !text || content.size === 0;
  if (text) {
    const said = await content.text();
    try {
      $("try-text").textContent = JSON.stringify(JSON.parse(said), null, 2);
    } catch {
      $("try-text").textContent = said;
    }
  } else if (content.size > 0) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = "answer";
    link.textContent = "Save the file (" + type + ")";
    $("try-save").append(link);
  }
}

function offerToTry() {
  const section = $("try");
  if (!section) return;
  section.hidden = false;
  for (const link of document.querySelectorAll(".jump-try")) link.hidden = false;
  if ($("get-token")) {
    $("get-token").addEventListener("click", getToken);
    $("forget-token").addEventListener("click", () => {
      sessionStorage.removeItem(kept);
      $("try-token").value = "";
      showToken();
    });
  }
  if ($("try-example")) $("try-example").addEventListener("change", () => { $("try-body").value = $("try-example").value; });
  section.addEventListener("input", () => showCurl(section));
  section.addEventListener("change", () => showCurl(section));
  $("try-form").addEventListener("submit", (event) => {
    event.preventDefault();
    send(section);
  });
  showToken();
  if (location.hash === "#try") section.scrollIntoView();
}

// A schema that a link leads to is unfolded.
function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") target.open = true;
}

followOldAddress();
unfoldTarget();
addEventListener("hashchange", unfoldTarget);
offerToTry();
