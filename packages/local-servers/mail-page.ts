export interface Mail {
  id: string
  date: string
  from: string
  /** The recipients of the SMTP envelope, in lower case. */
  to: string[]
  subject: string
  text: string
  html: string
}

export function listPage (mails: Mail[]): string {
  const rows = mails.map(({ id, date, to, subject }) =>
    `<tr><td>${time(date)}</td><td>${escape(to.join(', '))}</td><td><a href="/mails/${id}">${
      escape(subject) || '(no subject)'
    }</a></td></tr>`
  )
  return page(
    'Mail',
    `
    <p>Every mail that the local system sends, newest first. As JSON: <a href="/api/mails">/api/mails</a></p>
    ${
      rows.length === 0
        ? '<p>No mail yet.</p>'
        : `<table><tr><th>When</th><th>To</th><th>Subject</th></tr>${rows.join('\n')}</table>`
    }`
  )
}

export function mailPage ({ date, from, to, subject, text, html }: Mail): string {
  return page(
    subject,
    `
    <p><a href="/">All mail</a></p>
    <p>${time(date)}, from ${escape(from)} to ${escape(to.join(', '))}</p>
    <h2>Text</h2><pre>${linked(escape(text))}</pre>
    ${html ? `<h2>HTML</h2><iframe sandbox="allow-popups" srcdoc="${escape(html)}"></iframe>` : ''}`
  )
}

function page (title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escape(title)}</title>
    <style>
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
      table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #8884 }
      pre { white-space: pre-wrap; padding: 1rem; background: #8882 } iframe { width: 100%; height: 30rem; border: 1px solid #8884; background: white }
    </style><h1>${escape(title)}</h1>${body}</html>`
}

function time (date: string): string {
  return date.slice(0, 19).replace('T', ' ')
}

function linked (escaped: string): string {
  return escaped.replaceAll(/https?:\/\/[^\s<>"']+/g, (url) => `<a href="${url}">${url}</a>`)
}

function escape (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
