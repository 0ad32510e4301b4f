// The scores of Sphinx' search, which this file replaces. A result within the findings is named after the finding. Of
// pages that have the words in their text the how-tos come first: the page of all findings has most words.
var Scorer = {
  score: (result) => {
    const [page, , anchor, , score] = result;
    if (page.endsWith("reference/findings") && anchor) {
      result[1] = "Findings: " + anchor.slice(1).replaceAll("-", " ");
      return score + 2;
    }
    return page.includes("how-to/") ? score + 1 : score;
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
