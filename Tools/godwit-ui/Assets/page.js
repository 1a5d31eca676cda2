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

async function ask(path, body) {
  const options = { headers: { Authorization: `Bearer ${token}` }, cache: "no-store", credentials: "omit" };
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

function say(text, isBad = false) {
  element("status").textContent = text;
  element("status").className = isBad ? "bad" : "quiet";
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
  if (focused) (focused.summary ? summary(focused.summary) : page.querySelector(focused))?.focus({ preventScroll: true });
  document.title = page.querySelector("h1")?.textContent ?? "Godwit";
  const time = new Date().toLocaleTimeString();
  say(`Up to date at ${time}; changes appear by themselves.`);
}

function handle(event) {
  const name = event.match(/^event: (.*)$/m)?.[1];
  const data = JSON.parse(event.match(/^data: (.*)$/m)?.[1] ?? "{}");
  if (name === "synced") {
    element("sync").disabled = false;
    const lines = [...data.lines, ...data.problems];
    // A question that is open stays.
    if (element("dialog").open) return refresh().then(() => say(lines.join("; ")));
    show("Sync", lines.join("\n"));
  }
  return name ? refresh() : undefined;
}

async function listen() {
  for (;;) {
    let said;
    try {
      const answer = await ask("/api/events");
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
      if (error instanceof Refused) return say(error.message, true);
      said = error instanceof Answered ? error.message : "godwit ui does not answer";
    }
    element("sync").disabled = false;
    say(`${said}; this page is as it was. It is asked again every two seconds.`, true);
    await sleep(2000);
  }
}

function show(title, content, action) {
  const dialog = element("dialog");
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
      say(answer.written ? `Conflict ${conflict} is restored.` : "Nothing was left to restore.");
    },
  });
}

async function why(query) {
  const text = await (await ask(`/api/why?${new URLSearchParams(query)}`)).text();
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
    say("Syncing …");
    try {
      await ask("/api/sync", {});
    } catch (error) {
      element("sync").disabled = false;
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

if (token) listen();
else say("This address lacks its token: open the one that godwit ui printed.", true);
