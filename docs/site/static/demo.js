// Plays the recording of the demo. It pauses where the command to type next is on the screen, and at the end of each
// chapter.
document.addEventListener("DOMContentLoaded", () => {
  const markers = [];
  let before = 0;
  for (const line of recording.trim().split("\n").slice(1)) {
    const [at, , text] = JSON.parse(line);
    if (text.startsWith("== ") && before > 1) markers.push([before, text.slice(3).trim()]);
    if (/^ {6}juju run .*=true/.test(text)) markers.push([at + 0.02, "what to type next"]);
    before = at;
  }
  const next = markers.find(([, label]) => label === "what to type next");
  AsciinemaPlayer.create({ data: recording }, document.getElementById("demo"), {
    poster: next ? `npt:${next[0]}` : "npt:1", markers, pauseOnMarkers: true, idleTimeLimit: 2, fit: "width",
  });
});
