// The dashboard links to a finding by its code as it is: #NO_QUORUM. The generator makes #no-quorum of the title.
addEventListener("DOMContentLoaded", () => {
  if (/^#[A-Z]+(_[A-Z]+)*$/.test(location.hash)) location.replace(location.hash.toLowerCase().replaceAll("_", "-"));
});
