import { escapeHtml } from '@tandem/brand-kit'

const markup = Symbol('markup')

/** HTML that is safe to send. Only `html` makes it: a value of a service can never have its symbol. */
export interface Html {
  readonly [markup]: string
}

export type HtmlValue = string | number | Html | false | null | undefined | readonly HtmlValue[]

function toMarkup (value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return ''
  if (typeof value === 'object') {
    return markup in value ? value[markup] : (value as readonly HtmlValue[]).map((each) => toMarkup(each)).join('')
  }
  return escapeHtml(String(value))
}

/**
 * HTML from a template. Every value is escaped, but for the results of `html` itself; false, null and undefined are
 * left out. Attributes must be in quotes.
 */
export function html (parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return { [markup]: parts.reduce((text, part, index) => `${text}${toMarkup(values[index - 1])}${part}`) }
}

/** The text to send. */
export const renderHtml = (content: Html) => content[markup]
