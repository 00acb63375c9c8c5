// The order of what a search finds: pages that answer a question first, then names of the reference,
// last the members of classes and the pages that name everything. Numbers are Sphinx's own defaults
// where nothing is said of them.
var Scorer = {
  score: ([page, title, , , score]) => {
    const member = /\.[A-Z]\w*\.\w+$/.test(title);
    const [, more] = PAGES.find(([pattern]) => pattern.test(page));
    return score + more - (member ? 12 : 0);
  },
  objNameMatch: 20, // a class before the pages that use it
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

const PAGES = [
  [/\/index$/, -2],
  [/^howto\//, 5],
  [/^(tutorials|gallery)\//, 4],
  [/^(changelog|contributing|benchmarks|verification|errata)$/, -4],
  [/^(api|problems)\//, -3],
  [/^/, 0],
];

// Of pages that are opened as files a browser reads no text for summaries, and says so in its console.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
