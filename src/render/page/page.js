'use strict';
(() => {
  const tree = document.getElementById('tree');
  const rows = [...tree.querySelectorAll('[role=treeitem]')];
  const wide = matchMedia('(min-width: 68rem)');
  const entryOf = row => document.getElementById('e' + row.id.slice(1));
  const level = row => Number(row.getAttribute('aria-level'));
  let current = rows[0];

  // One row at a time can be reached with Tab; it is the one where the reader is.
  const mark = row => {
    if (!row) return;
    current.classList.remove('here');
    current.tabIndex = -1;
    current.removeAttribute('aria-current');
    current = row;
    row.classList.add('here');
    row.tabIndex = 0;
    row.setAttribute('aria-current', 'true');
  };
  // An entry in a folded branch is unfolded before it is shown.
  const reveal = entry => {
    for (let around = entry.parentElement; around; around = around.parentElement) {
      if (around.localName === 'details') around.open = true;
    }
    entry.scrollIntoView({ block: 'start' });
  };
  const go = row => {
    const entry = entryOf(row);
    mark(row);
    if (!entry) return;
    history.replaceState(null, '', '#' + entry.id);
    reveal(entry);
    entry.focus({ preventScroll: true });
  };

  // Left: to the row that the branch left. Right: into a branch.
  const steps = {
    ArrowDown: at => at + 1,
    ArrowUp: at => at - 1,
    PageDown: at => Math.min(at + 10, rows.length - 1),
    PageUp: at => Math.max(at - 10, 0),
    Home: () => 0,
    End: () => rows.length - 1,
    ArrowRight: at => (rows[at + 1] && level(rows[at + 1]) > level(rows[at]) ? at + 1 : at),
    ArrowLeft: at => {
      const own = level(rows[at]);
      let to = at - 1;
      while (to >= 0 && level(rows[to]) >= own) to -= 1;
      return to < 0 ? at : to;
    },
  };
  tree.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      go(current);
      return;
    }
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const row = rows[step(rows.indexOf(current))];
    if (!row) return;
    mark(row);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
    const entry = wide.matches && entryOf(row);
    if (entry) reveal(entry);
  });
  tree.addEventListener('click', event => {
    const row = event.target.closest('[role=treeitem]');
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey || !wide.matches) return;
    event.preventDefault();
    go(row);
  });

  const arrive = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    if (target.matches('[role=treeitem]')) {
      mark(target);
      target.focus();
    } else if (target.matches('article')) {
      reveal(target);
      mark(document.getElementById('m' + target.id.slice(1)));
      current.scrollIntoView({ block: 'nearest' });
    }
  };
  addEventListener('hashchange', arrive);

  const unfold = document.getElementById('unfold');
  unfold.hidden = false;
  unfold.addEventListener('click', () => {
    const open = unfold.textContent === 'Unfold all';
    for (const details of document.querySelectorAll('main details')) details.open = open;
    unfold.textContent = open ? 'Fold all' : 'Unfold all';
  });

  // Paper has nothing to unfold.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('main details:not([open])')];
    for (const details of folded) details.open = true;
  });
  addEventListener('afterprint', () => {
    for (const details of folded) details.open = false;
    folded = [];
  });

  const theme = document.getElementById('theme');
  const dark = () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const name = () => { theme.textContent = dark() ? 'Light' : 'Dark'; };
  theme.hidden = false;
  name();
  theme.addEventListener('click', () => {
    document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
    name();
  });

  if (rows.length) {
    mark(tree.querySelector('.leaf')?.parentElement ?? rows[0]);
    current.scrollIntoView({ block: 'nearest' });
    arrive();
  }
})();
