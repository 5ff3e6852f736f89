// The search loads its index, which browsers refuse for pages that are opened as files; the theme then hides its field.
// This says why there is none.
if (location.protocol === "file:") {
  document.addEventListener("DOMContentLoaded", () => {
    const header = document.querySelector(".md-header__inner");
    if (header) {
      const note = document.createElement("span");
      note.className = "md-header__option search-note";
      note.style.fontSize = "0.6rem";
      note.textContent = "Search needs http";
      note.title = "python3 -m http.server -d site, then open localhost:8000";
      header.append(note);
    }
  });
}
