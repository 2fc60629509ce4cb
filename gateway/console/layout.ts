import { isFeatureOn, readBrand, type Feature } from '@tandem/brand-kit'
import { html, type Html } from './html.ts'
import { nameOfLanguage } from './pages/parts.ts'
import type { Texts } from './texts.ts'
import type { Page, Visit } from './visit.ts'

type MenuPage = [path: string, name: keyof Texts['pages'], right: string, feature?: Feature]

/** The pages of the menu, each with the right that it needs. */
const menu: [group: 'moderation' | 'support' | 'operations', MenuPage[]][] = [
  ['moderation', [
    ['/queue', 'queue', 'cases.read'],
    ['/verifications', 'verifications', 'verifications.decide', 'fitmatch'],
    ['/appeals', 'appeals', 'appeals.decide'],
    ['/people', 'people', 'people.read']
  ]],
  ['support', [
    ['/issues', 'issues', 'issues.read'],
    ['/erasures', 'erasures', 'erasures.read']
  ]],
  ['operations', [
    ['/proposals', 'proposals', 'proposals.read'],
    ['/broadcasts', 'broadcasts', 'broadcasts.read'],
    ['/dead-letters', 'deadLetters', 'dead-letters.read'],
    ['/webhooks', 'webhooks', 'webhooks.read'],
    ['/options', 'options', 'options.change'],
    ['/producers', 'producers', 'producers.read'],
    ['/calls', 'calls', 'health.read'],
    ['/system', 'system', 'health.read'],
    ['/staff', 'staff', 'staff.read'],
    ['/audit', 'audit', 'audit.read']
  ]]
]

const isShown = (can: (right: string) => boolean) => ([, , right, feature]: MenuPage) =>
  can(right) && isFeatureOn(feature)

/** The first page that an operator can open. */
export const startPageOf = (can: (right: string) => boolean) =>
  menu.flatMap(([, pages]) => pages).find(isShown(can))?.[0] ?? '/system'

/** A page of a signed-in operator. */
export function layOut (visit: Visit, { title, content }: Page): Html {
  const { texts, unavailable, query } = visit
  const messages: Record<string, string> = texts.done
  const done = messages[query['done'] ?? '']
  return frame(
    visit,
    title,
    html`
    <a class="skip" href="#main">${texts.layout.skip}</a>
    <header class="bar">
      <a class="brand" href="/">${readBrand().brand.name} <span>${texts.layout.console}</span></a>
      <a class="menu-link" href="#menu">${texts.layout.menu}</a>
    </header>
    <nav id="menu" aria-label="${texts.layout.console}">
      ${menu.map(([group, pages]) => menuGroup(visit, group, pages))}
      ${account(visit)}
      <a class="menu-close" href="#main">${texts.layout.close}</a>
    </nav>
    <main id="main" tabindex="-1">
      ${done ? html`<p class="note good" role="status">${done}</p>` : ''}
      ${
      unavailable.size > 0 &&
      html`<p class="note bad" role="alert">${
        texts.say('layout.unavailable', { services: [...unavailable].join(', ') })
      }</p>`
    }
      ${content}
    </main>
    ${keysDialog(texts)}`
  )
}

function menuGroup ({ texts, can, path }: Visit, group: typeof menu[number][0], pages: MenuPage[]) {
  const shown = pages.filter(isShown(can))
  if (shown.length === 0) return
  const here = `/${path.split(/[/?]/)[1] ?? ''}`
  // A case belongs to the queue, and a person's messages to the person.
  const current = here === '/cases' ? '/queue' : here
  return html`<h2>${texts.layout[group]}</h2><ul>${
    shown.map(([address, name]) =>
      html`<li><a href="${address}"${current === address && html` aria-current="page"`}>${texts.pages[name]}</a></li>`
    )
  }</ul>`
}

const account = ({ staff, texts, path, language }: Visit) =>
  html`<div class="account">
    <p><strong>${staff.email}</strong><br>${texts.roles[staff.role]}</p>
    ${languageForm(language, path)}
    <form method="post" action="/sign-out"><button class="quiet">${texts.layout.signOut}</button></form>
    <p class="only-keys"><button type="button" class="quiet" data-dialog="keys">${texts.keys.title}<kbd aria-hidden="true">?</kbd></button></p>
  </div>`

/** Switches to another language, and comes back. */
function languageForm (language: string, path: string) {
  const others = readBrand().texts.locales.filter((each) => each !== language)
  return others.length > 0 && html`<form method="post" action="/language">
      <input type="hidden" name="next" value="${path}">
      ${
    others.map((other) =>
      html`<button class="quiet" name="language" value="${other}" lang="${other}">${nameOfLanguage(other)}</button>`
    )
  }
    </form>`
}

const keysDialog = ({ keys }: Texts) =>
  html`<dialog id="keys" aria-labelledby="keys-title">
    <h2 id="keys-title">${keys.title}</h2>
    <dl>${
    Object.entries(keys.list).map(([key, text]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)
  }</dl>
    <form method="dialog"><button>${keys.close}</button></form>
  </dialog>
  <dialog id="confirm" aria-labelledby="confirm-text">
    <p id="confirm-text"></p>
    <form method="dialog" class="row"><button value="yes" class="danger">${keys.yes}</button><button value="no">${keys.no}</button></form>
  </dialog>`

/** A page before there is an operator, such as the one to sign in. */
export function layOutAlone (
  { texts, language, path }: { texts: Texts, language: string, path: string },
  { title, content }: Page
): Html {
  return frame(
    { texts, language },
    title,
    html`
    <main id="main" class="alone" tabindex="-1">
      <p class="brand">${readBrand().brand.name} <span>${texts.layout.console}</span></p>
      <h1>${title}</h1>
      ${content}
      ${languageForm(language, path)}
    </main>`
  )
}

const frame = ({ texts, language }: { texts: Texts, language: string }, title: string, body: Html) =>
  html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${readBrand().brand.name}</title>
<link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/style.css">
<script type="module" src="/assets/console.js"></script>
</head>
<body data-failed="${texts.signIn.failed}" data-no-passkey="${texts.signIn.noPasskey}">${body}</body>
</html>
`
