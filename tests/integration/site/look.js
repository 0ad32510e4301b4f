// Runs in the browser, in a page beside the site's: opens the wanted pages one after another in a frame, which is as wide
// as a window would be, and sends what it finds. Virtual time passes at once while the browser has nothing to do.
"use strict";

const wait = ms => new Promise(done => setTimeout(done, ms));

// open returns the frame with a page, whose own scripts have run.
async function open(path) {
  const frame = document.createElement("iframe");
  frame.style = "border: 0; width: 1500px; height: 900px";
  const loaded = new Promise(done => frame.onload = done);
  frame.src = path;
  document.body.append(frame);
  await loaded;
  await wait(300);
  return frame;
}

// measure looks at a page of the site in its frame.
function measure(frame) {
  const page = frame.contentDocument, style = e => frame.contentWindow.getComputedStyle(e);
  const all = s => [...page.querySelectorAll(s)], left = e => Math.round(e.getBoundingClientRect().left);
  const width = page.documentElement.clientWidth;
  const tooWide = e => e.getBoundingClientRect().width && e.getBoundingClientRect().right > width + 1;
  const scrolls = "table, svg, .headerlink, .ap-wrapper";
  const search = page.querySelector("input[name=q]"), link = page.querySelector(".sidebar-tree a");
  const cards = all("#learn, #get-something-done, #look-it-up, #understand");
  return {
    Sideways: page.documentElement.scrollWidth - width,
    Wider: all("article *").filter(e => tooWide(e) && !e.closest(scrolls)).map(e => e.tagName + " " + e.textContent.slice(0, 60)),
    CutOff: all("article pre").filter(e => e.scrollWidth > e.clientWidth + 1 && !e.closest(".ap-wrapper")).map(e => e.textContent.slice(0, 200)),
    // A table can be scrolled by itself, but one of two columns needs no scrolling.
    Scrolls: all("article table.docutils").filter(e => e.scrollWidth > e.clientWidth + 1 && e.rows[0].cells.length < 3).map(e => e.textContent.trim().slice(0, 60)),
    Code: all("article div.highlight pre").length,
    Copies: all("button.copybtn").filter(e => style(e).display != "none").length,
    Contents: all(".toc-tree a").filter(e => e.getClientRects().length).length,
    Cards: cards.length,
    Columns: new Set(cards.map(left)).size,
    SearchOnTop: search.getBoundingClientRect().top < link.getBoundingClientRect().top,
    Themes: all(".theme-toggle").filter(e => e.getClientRects().length).length,
    Background: style(page.body).backgroundColor,
    Icons: [...new Set(all(".copybtn img").map(e => style(e).backgroundColor))],
    Target: page.querySelector(":target")?.id ?? "",
    Anchors: all("article [id]").map(e => e.id),
    Player: all(".ap-player").length > 0,
    Pauses: all(".ap-marker-container .ap-tooltip").map(e => e.textContent),
    Pictures: all("article img:not(.copybtn img)").map(e => e.naturalWidth),
  };
}

// look returns what a page shows at each width, and its background after each of three clicks on the switch of colours.
async function look({Path, Widths, Switch}) {
  const frame = await open(Path), at = {};
  for (const width of Widths) {
    frame.style.width = width + "px";
    await wait(100);
    at[width] = measure(frame);
  }
  const page = frame.contentDocument, clicked = [];
  for (let i = 0; Switch && i < 3; i++) {
    [...page.querySelectorAll(".theme-toggle")].find(e => e.getClientRects().length)?.click();
    await wait(100);
    clicked.push(frame.contentWindow.getComputedStyle(page.body).backgroundColor);
  }
  localStorage.clear(); // the next page begins with the colours that the browser asks for
  frame.remove();
  return {At: at, Clicked: clicked};
}

// search returns the addresses of what the site's search finds for words, best first.
async function search(words) {
  const frame = await open("/search.html?q=" + encodeURIComponent(words));
  const page = frame.contentDocument;
  for (let i = 0; i < 100 && !page.querySelector(".search-summary")?.textContent.match(/found|did not match/); i++) await wait(100);
  const hits = [...page.querySelectorAll("ul.search li > a")].map(a => a.getAttribute("href").replace(/\?[^#]*/, ""));
  frame.remove();
  return hits;
}

async function main() {
  const {Pages, Searches} = await (await fetch("/-/wanted")).json(), found = {Pages: {}, Hits: {}};
  for (const page of Pages ?? []) found.Pages[page.Path] = await look(page);
  for (const words of Searches ?? []) found.Hits[words] = await search(words);
  return found;
}

main().catch(e => ({Error: String(e.stack)})).then(found => fetch("/-/found", {method: "POST", body: JSON.stringify(found)}));
