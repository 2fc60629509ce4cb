import { escapeHtml, textsOf } from '@tandem/brand-kit'

/** How many rows an archive contains: by service and thing. */
export type Counts = Record<string, Record<string, number>>

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
td, th { padding: .1rem 1rem .1rem 0; text-align: left }
img { height: 8rem; max-width: 100% }
`

interface Index {
  counts: Counts
  images: string[]
  locale: string
}

/** The first page of an archive. It opens from disk, without a script. Every name in it is ours. */
export function renderIndex ({ counts, images, locale }: Index) {
  const texts = textsOf(locale)
  const found = Object.entries<string>(texts.group('pages.exportIndex'))
  const words = Object.fromEntries(found.map(([name, text]) => [name, escapeHtml(text)]))
  const { title, intro, thing, rows, images: imagesTitle, check } = words
  const lines = Object.entries(counts).flatMap(([service, things]) =>
    Object.entries(things).map(([name, count]) =>
      `<tr><td><a href="${service}/${name}.json">${service}: ${name.replaceAll('_', ' ')}</a><td>${count}`
    )
  )
  const pictures = images.map((path, index) =>
    `<a href="${path}"><img src="${path}" alt="${index + 1}" loading="lazy"></a>`
  )
  return `<!doctype html>
<html lang="${texts.locale}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${style}</style>
<h1>${title}</h1>
<p>${intro}</p>
<table><thead><tr><th>${thing}<th>${rows}</thead><tbody>
${lines.join('\n')}
</tbody></table>
${pictures.length > 0 ? `<h2>${imagesTitle}</h2>\n<p>${pictures.join('\n')}</p>` : ''}
<p>${check}</p>
</html>
`
}
