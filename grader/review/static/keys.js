// Keys press what the page marks with data-key; without this script the same page works by mouse, Tab and Enter.
"use strict";
(() => {
  const DECIDING = new Set(["Enter", "a", "0", "f", "u"]);
  const GUARD_MS = 250; // a key pressed twice must not decide the answer that has just come up
  const HEARTBEAT_MS = 120000; // a lease lasts ten minutes
  const root = document.documentElement;
  const form = document.getElementById("decision");
  let sent = false;
  let ready = false;

  setTimeout(() => { ready = true; root.dataset.ready = "yes"; }, GUARD_MS);
  document.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  window.addEventListener("pageshow", () => { sent = false; });

  const isTyping = (element) => element && (element.tagName === "TEXTAREA" || element.tagName === "SELECT"
    || (element.tagName === "INPUT" && !["checkbox", "radio"].includes(element.type)));

  document.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    if (event.repeat || event.isComposing) return;
    if (isTyping(at)) {
      if (event.key === "Escape") at.blur();
      const save = form && document.querySelector('[data-key="Enter"]');
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && save) { event.preventDefault(); save.click(); }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && at && ["A", "BUTTON", "SUMMARY"].includes(at.tagName)) return;
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (!target) return;
    event.preventDefault();
    if (DECIDING.has(event.key) && (sent || !ready)) return;
    if (isTyping(target)) target.focus();
    else target.click();
  });

  const total = document.getElementById("total");
  if (form && total) {
    const worth = Number(form.dataset.worth);
    form.addEventListener("change", () => {
      let sum = 0;
      for (const box of form.querySelectorAll("[data-points]:checked")) sum += Number(box.dataset.points);
      total.textContent = String(Math.round(100 * Math.min(Math.max(sum, 0), worth)) / 100);
    });
  }

  if (form && form.dataset.lease) {
    setInterval(() => {
      const body = new URLSearchParams({ form_token: form.elements.form_token.value });
      fetch(form.dataset.lease, { method: "POST", body }).catch(() => {});
    }, HEARTBEAT_MS);
  }
})();
