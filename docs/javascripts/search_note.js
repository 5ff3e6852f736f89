// The search loads its index, which browsers refuse for pages that are opened as files.
if (location.protocol === "file:") {
  document.addEventListener("DOMContentLoaded", () => {
    const field = document.querySelector(".md-search__input");
    if (field) {
      field.placeholder = "Needs http";
      field.title = "Search needs http: python3 -m http.server -d site";
      field.disabled = true;
    }
  });
}
