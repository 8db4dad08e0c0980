// Which slots of L1 are given to a load that no node has yet?
//
// That an allocation is for a load says the decision before it; the load's nodes take its
// slots in turn. As a set of pages, found once for each event.
// Left out: what a node waits for (run.js), how it looks (colouring.js, account.js).

export function promisedPages(run) {
  if (run.due?.at !== run.at) run.due = { at: run.at, pages: findPromised(run) };
  return run.due.pages;
}

function findPromised(run) {
  const pages = new Set();
  let e = run.at - 1;
  while (e >= 0 && ["load", "unlock"].includes(run.kind(e))) e--;
  if (e < 0 || run.kind(e) !== "alloc" || run.raw(e, "tier") !== "L1") return pages;
  const decided = run.behind(e);
  if (decided < 0 || run.kind(decided) !== "loadback") return pages;
  const column = run.log.columns.indexOf("owner1");
  const { owner1 } = run.c;
  for (let p = run.end[e]; p < run.end[e + 1]; p++)
    if (run.op.column[p] === column)
      run.rowsOf(p, (first, size) => {
        for (let page = first; page < first + size; page++)
          if (owner1[page] === 1) pages.add(page);
      });
  return pages;
}
