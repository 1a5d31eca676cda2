// The page that lives (Specs/report.md): fetches the page as the server has written it, again when something changed, and
// asks for what a person does there. All markup is the server's, which escapes what others wrote.
"use strict";

const element = (id) => document.getElementById(id);
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// The fragment never leaves the browser. It is kept for this tab alone, and is no longer in the address then.
function takeToken() {
  const found = location.hash.match(/^#token=([A-Za-z0-9_-]+)$/);
  if (found) {
    sessionStorage.setItem("token", found[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token");
}

let token = takeToken();
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) {
    token = takeToken();
    location.reload();
  }
});

// What the server says is wrong; another error is that it says nothing.
class Answered extends Error {}
class Refused extends Answered {}

async function ask(path, body, signal) {
  const options = { headers: { Authorization: `Bearer ${token}` }, cache: "no-store", credentials: "omit", signal };
  if (body) {
    options.method = "POST";
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({ message: `status ${answer.status}` }));
  const text = problem.hint ? `${problem.message} (${problem.hint})` : problem.message;
  throw answer.status === 401 ? new Refused(text) : new Answered(text);
}

// What came of something that a person did, which is read aloud.
function say(text) {
  element("status").textContent = text;
}

// How the page itself is, which is not.
function note(text, isBad = false) {
  element("state").textContent = text;
  element("state").className = isBad ? "bad" : "quiet";
}

// What names an element from one page to the next.
function address(node) {
  if (!node || !element("page").contains(node)) return null;
  for (const name of ["data-restore", "data-why", "id", "href", "aria-label"]) {
    const value = node.getAttribute(name);
    if (value !== null) return `[${name}="${CSS.escape(value)}"]`;
  }
  return node.tagName === "SUMMARY" ? { summary: node.textContent } : null;
}

function summary(text) {
  return [...element("page").querySelectorAll("summary")].find((node) => node.textContent === text);
}

function find(address) {
  return address.summary ? summary(address.summary) : element("page").querySelector(address);
}

// One at a time, and once more where something changed meanwhile: no answer replaces a later one.
let loading = null;
let isStale = false;

function refresh() {
  isStale = true;
  loading ??= (async () => {
    try {
      while (isStale) {
        isStale = false;
        await load();
      }
    } finally {
      loading = null;
    }
  })();
  return loading;
}

async function load() {
  const text = await (await ask("/api/page")).text();
  const page = element("page");
  const focused = address(document.activeElement);
  const opened = [...page.querySelectorAll("details[open] > summary")].map((node) => node.textContent);
  page.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
  for (const text of opened) summary(text)?.parentElement.setAttribute("open", "");
  if (focused) find(focused)?.focus({ preventScroll: true });
  document.title = page.querySelector("h1")?.textContent ?? "Godwit";
  const time = new Date().toLocaleTimeString();
  note(`Up to date at ${time}; changes appear by themselves.`);
}

let hasAskedToSync = false;

function handle(event) {
  const name = event.match(/^event: (.*)$/m)?.[1];
  const data = JSON.parse(event.match(/^data: (.*)$/m)?.[1] ?? "{}");
  if (name === "synced") {
    element("sync").disabled = false;
    const lines = [...data.lines, ...data.problems];
    // It is shown where it was asked for; a question that is open stays.
    if (hasAskedToSync && !element("dialog").open) show("Sync", lines.join("\n"));
    say(`Synced: ${lines.join("; ")}`);
    hasAskedToSync = false;
  }
  return name ? refresh() : undefined;
}

// A page that nobody sees listens to nothing: a browser has six connections to a server for all of its tabs.
async function seen() {
  while (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

async function listen() {
  for (;;) {
    await seen();
    const turn = new AbortController();
    const hide = () => document.hidden && turn.abort();
    document.addEventListener("visibilitychange", hide);
    let said;
    try {
      const answer = await ask("/api/events", undefined, turn.signal);
      await refresh();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const event of events) await handle(event);
      }
      said = "godwit ui has ended, or this page was left behind";
    } catch (error) {
      if (error instanceof Refused) return note(error.message, true);
      said = error instanceof Answered ? error.message : "godwit ui does not answer";
    }
    document.removeEventListener("visibilitychange", hide);
    element("sync").disabled = false;
    if (turn.signal.aborted) continue;
    turn.abort();
    note(`${said}; this page is as it was. It is asked again every two seconds.`, true);
    await sleep(2000);
  }
}

// Where the focus was when a dialog was opened.
let origin = null;

// Where a conflict is no more, the next one has its place, or the heading.
function giveFocusBack() {
  if (!origin) return;
  const next = element("page").querySelector("[data-restore], #conflicts-heading");
  const target = origin.node.isConnected ? origin.node : (origin.address && find(origin.address)) || next;
  if (target?.tagName === "H2") target.tabIndex = -1;
  target?.focus({ preventScroll: true });
}

function show(title, content, action) {
  const dialog = element("dialog");
  if (!dialog.open) origin = { node: document.activeElement, address: address(document.activeElement) };
  element("dialog-title").textContent = title;
  if (typeof content === "string") {
    const text = document.createElement("pre");
    text.className = "value";
    text.textContent = content;
    content = [text];
  }
  element("dialog-content").replaceChildren(...content);
  element("dialog-act").hidden = !action;
  element("dialog-act").textContent = action?.name ?? "";
  element("dialog-act").onclick = () => {
    dialog.close();
    attempt(action.run);
  };
  if (!dialog.open) dialog.showModal();
}

async function attempt(body) {
  try {
    await body();
  } catch (error) {
    show("That was refused", error.message);
  }
}

function restore(conflict) {
  const article = element("page").querySelector(`#conflict-${CSS.escape(conflict)}`);
  const lost = [...(article?.querySelector(".sides > div")?.cloneNode(true).childNodes ?? [])];
  show(`Restore what lost in conflict ${conflict}?`, lost, {
    name: "Restore it",
    run: async () => {
      const answer = await (await ask("/api/restore", { conflict })).json();
      await refresh();
      giveFocusBack();
      say(answer.written ? `Conflict ${conflict} is restored.` : "Nothing was left to restore.");
    },
  });
}

async function why(query) {
  const words = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const text = await (await ask(`/api/why?${words.join("&")}`)).text();
  show("Why the row is so", [...new DOMParser().parseFromString(text, "text/html").body.childNodes]);
}

element("page").addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.restore) restore(button.dataset.restore);
  if (button?.dataset.why) attempt(() => why({ conflict: button.dataset.why }));
});

element("sync").addEventListener("click", () =>
  attempt(async () => {
    element("sync").disabled = true;
    hasAskedToSync = true;
    say("Syncing …");
    try {
      await ask("/api/sync", {});
    } catch (error) {
      element("sync").disabled = false;
      hasAskedToSync = false;
      throw error;
    }
  }),
);

function askWhy() {
  attempt(() => why({ table: element("why-table").value, key: element("why-key").value }));
}
element("why").addEventListener("click", askWhy);
for (const id of ["why-table", "why-key"]) {
  element(id).addEventListener("keydown", (event) => event.key === "Enter" && askWhy());
}

element("dialog-close").addEventListener("click", () => element("dialog").close());
element("dialog").addEventListener("close", giveFocusBack);

if (token) listen();
else note("This address lacks its token: open the one that godwit ui printed.", true);
