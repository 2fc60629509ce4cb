import { OPTION_LISTS, readBrand } from '@tandem/brand-kit'
import type { Form } from '../forms.ts'
import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { badge, empty, nameOfLanguage, options } from './parts.ts'

interface Option {
  optionId: string
  labels: Record<string, string>
  icon: string
  sortOrder: number
  isActive: boolean
}

const typeOf = (value: string | undefined) => OPTION_LISTS.find((each) => each === value) ?? 'sport'

export function serveOptions ({ page, form }: Pages) {
  page('/options', 'options.change', async (visit) => {
    const { texts, query } = visit
    const type = typeOf(query['type'])
    const found = await visit.find<{ options: Option[] }>('profile', '/operator/options', { type })
    return {
      title: texts.pages.options,
      content: html`<h1>${texts.pages.options}</h1><p>${texts.options.text}</p>
        <form method="get" action="/options" class="row filter">
          <label>${texts.options.type}<select name="type">${
        options(texts.options.types, OPTION_LISTS, type)
      }</select></label>
          <button>${texts.options.show}</button></form>
        <div class="columns">
          <section aria-label="${texts.options.types[type]}">${
        found ? found.options.map((each) => optionCard(visit, type, each)) : empty(texts.queue.unknown)
      }</section>
          <aside aria-label="${texts.options.add}">${addForm(visit, type)}</aside></div>`
    }
  })

  form('/options', 'options.change', async (visit, fields) => {
    const type = typeOf(fields.text('type'))
    await visit.send('profile', 'POST', '/operator/options', {
      type,
      optionId: fields.text('optionId'),
      labels: readLabels(fields),
      icon: fields.text('icon')
    })
    return redirectAfter(`/options?type=${type}`, 'option')
  })

  form('/options/change', 'options.change', async (visit, fields) => {
    const type = typeOf(fields.text('type'))
    const change = fields.text('then')
    await visit.send('profile', 'PUT', '/operator/options', {
      type,
      optionId: fields.text('optionId'),
      ...change === 'save'
        ? {
          labels: readLabels(fields),
          icon: fields.text('icon'),
          sortOrder: fields.number('sortOrder')
        }
        : { isActive: change === 'restore' }
    })
    return redirectAfter(`/options?type=${type}`, 'option')
  })
}

const readLabels = (fields: Form) =>
  Object.fromEntries(readBrand().texts.locales.map((locale) => [locale, fields.text(`label-${locale}`)]))

const labelFields = ({ texts: { options: words }, language }: Visit, { labels, icon }: Partial<Option> = {}) =>
  html`${
    readBrand().texts.locales.map((locale) =>
      html`<label>${words.label}: ${
        nameOfLanguage(locale, language)
      }<input name="label-${locale}" lang="${locale}" value="${
        labels?.[locale] ?? ''
      }" maxlength="100" required></label>`
    )
  }
    <label>${words.icon}<input name="icon" value="${icon ?? ''}" maxlength="2048" required></label>`

const addForm = (visit: Visit, type: string) => {
  const words = visit.texts.options
  return html`<form method="post" action="/options" class="card"><h2>${words.add}</h2>
    <input type="hidden" name="type" value="${type}">
    <label>${words.id}<input name="optionId" maxlength="50" pattern="[a-z0-9_]+" required autocomplete="off"></label>
    <p class="meta">${words.idHint}</p>
    ${labelFields(visit)}
    <button class="primary">${words.add}</button></form>`
}

function optionCard (visit: Visit, type: string, option: Option) {
  const words = visit.texts.options
  const { optionId, sortOrder, isActive, icon } = option
  // An address of an image is never loaded here.
  const sign = icon.length <= 8 ? icon : ''
  return html`<details class="card"><summary>${sign} ${option.labels[visit.language] ?? optionId} ${
    !isActive && badge(words.retired, 'warn')
  }</summary>
    <form method="post" action="/options/change">
      <input type="hidden" name="type" value="${type}"><input type="hidden" name="optionId" value="${optionId}">
      <p class="meta mono">${optionId}</p>
      ${labelFields(visit, option)}
      <label>${words.order}<input type="number" name="sortOrder" value="${sortOrder}" min="0" max="10000" required></label>
      <p class="row"><button class="primary" name="then" value="save">${words.save}</button>
        <button name="then" value="${isActive ? 'retire' : 'restore'}">${
    isActive ? words.retire : words.restore
  }</button></p>
    </form></details>`
}
